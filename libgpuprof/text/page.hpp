// SPDX-License-Identifier: Apache-2.0
// The medium of a table: a terminal of some width, or a file without limits.
#pragma once

#include <cstddef>

namespace gpuprof::text {

struct page {
  std::size_t width = 0;       // characters per line; 0: no names are cut, no columns left out
  bool bold_headings = false;  // true if the terminal can show them
};

}  // namespace gpuprof::text
