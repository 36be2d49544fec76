// SPDX-License-Identifier: Apache-2.0
// One HTML file with all that it needs inside: styles, programs, data. It reads no network.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::page {

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
