// SPDX-License-Identifier: Apache-2.0
// What a build without ECharts and Tabulator has in the place of page_assets.cpp.
#include "host/page/page_file.hpp"

namespace gpuprof::host::page {
using namespace host;

std::string_view asset(page_asset) noexcept {
  return {};
}

}  // namespace gpuprof::host::page
