// SPDX-License-Identifier: Apache-2.0
// One HTML file with all that it needs inside: styles, programs, data. It reads no network.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::page {

/// The files that a page is made of, inside the command.
enum class page_asset {
  charts,       // ECharts
  tables,       // Tabulator
  table_style,  // its style sheet
  body,         // web/page.html
  style,        // web/page.css
  program       // web/*.js, one after the other
};

/// Empty where the build had no libraries.
std::string_view asset(page_asset which) noexcept;

/// What the page knows under a name: bytes as page::packed made them.
struct data_block {
  std::string name, packed;
};

struct page_contents {
  std::string title;  // text, not HTML
  std::vector<data_block> blocks;
};

/// Whether this build has the libraries that draw pages (GPUPROF_REPORT_JS_DIR).
bool can_be_made() noexcept;

/// At `path`, when it is whole; until then under another name.
result<std::uint64_t> write_page(page_contents const& contents, std::string const& path,
                                 bool overwrite);

}  // namespace gpuprof::host::page
