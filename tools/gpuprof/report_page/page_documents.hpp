// SPDX-License-Identifier: Apache-2.0
// What a page shows of a capture: the documents that the other commands write, and the timeline.
#pragma once

#include "base/result.hpp"
#include "page/page_file.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace gpuprof {

struct page_inputs {
  std::string capture;
  std::string step_name;          // empty: found
  std::size_t max_bars = 0;       // of the timeline
  std::function<void()> advance;  // hears of each record of the timeline
};

/// Numbers are those of `analyze`, `roofline` and `stats`: the same code writes them.
result<page::page_contents> read_page(page_inputs const& inputs);

}  // namespace gpuprof
