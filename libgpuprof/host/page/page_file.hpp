// SPDX-License-Identifier: Apache-2.0
// Writes one HTML file that contains all that it needs: styles, programs, data. It uses no network.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::page {

/// The files of which a page is made, stored inside the command.
enum class page_asset {
  charts,       // ECharts
  tables,       // Tabulator
  table_style,  // its style sheet
  body,         // web/page.html
  style,        // web/page.css
  program       // web/*.js concatenated
};

/// Empty if the build had no libraries.
std::string_view asset(page_asset which) noexcept;

/// A block of data that the page finds by name; page::packed made the bytes.
struct data_block {
  std::string name, packed;
};

struct page_contents {
  std::string title;  // text, not HTML
  std::vector<data_block> blocks;
};

/// True if this build has the libraries that draw pages (GPUPROF_REPORT_JS_DIR).
bool can_be_made() noexcept;

/// The page gets the name `path` when it is complete; until then it has another name.
result<std::uint64_t> write_page(page_contents const& contents, std::string const& path,
                                 bool overwrite);

}  // namespace gpuprof::host::page
