// SPDX-License-Identifier: Apache-2.0
// What a page shows of a capture: the documents that the other commands write, and the timeline.
#pragma once

#include "analyze/read_advice.hpp"
#include "base/result.hpp"
#include "host/page/page_file.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

struct parts_inputs {
  std::string capture;
  std::string step_name;          // empty: found
  std::size_t max_bars = 0;       // of the timeline
  std::size_t max_rows = 0;       // of each table
  std::size_t max_paths = 0;      // of the tree of ranges
  std::size_t max_kernels = 0;    // with details
  std::function<void()> advance;  // hears of each record of the timeline
};

struct capture_parts {
  std::vector<page::data_block> blocks;
  report::ledger time;  // as analyze has it
};

/// Numbers are those of `analyze`, `roofline` and `stats`: the same code writes them.
result<capture_parts> read_parts(parts_inputs const& inputs);

/// What analyze says, or {"missing": "why"}. An error only for options that cannot be. `time`: null
/// where it is not wanted.
result<std::string> advice_document(advice_inputs const& inputs, report::ledger* time);

}  // namespace gpuprof::host::command
