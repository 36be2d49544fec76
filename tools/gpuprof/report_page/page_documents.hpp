// SPDX-License-Identifier: Apache-2.0
// The parts of a page for one capture: the documents that the other commands write, and the
// timeline.
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
  asked_step step;                // a single one is what the timeline shows first
  bool whole_run = false;         // the advice is about all of it, not only about the steps
  std::size_t max_bars = 0;       // limit for the timeline
  std::size_t max_rows = 0;       // limit for each table
  std::size_t max_paths = 0;      // limit for the tree of ranges
  std::size_t max_kernels = 0;    // limit for kernels with details
  std::function<void()> advance;  // called for each record of the timeline
};

struct capture_parts {
  std::vector<page::data_block> blocks;
  report::ledger time;  // as in `gpuprof analyze`
};

/// The numbers equal those of `analyze`, `roofline` and `stats`, because the same code writes them.
result<capture_parts> read_parts(parts_inputs const& inputs);

/// Returns the result of analyze, or {"missing": "why"}. Fails only if options are wrong. `time`
/// may be null.
result<std::string> advice_document(advice_inputs const& inputs, report::ledger* time);

}  // namespace gpuprof::host::command
