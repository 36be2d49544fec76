// SPDX-License-Identifier: Apache-2.0
// What a table is laid out for: a terminal of some width, or a file that holds all of it.
#pragma once

#include <cstddef>

namespace gpuprof::text {

struct page {
  std::size_t width = 0;       // characters of a line; 0: names stay whole, all columns stand
  bool bold_headings = false;  // the terminal shows them
};

}  // namespace gpuprof::text
