// SPDX-License-Identifier: Apache-2.0
// The files that a page is made of, inside the command.
#pragma once

#include <string_view>

namespace gpuprof::host::page {

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

}  // namespace gpuprof::host::page
