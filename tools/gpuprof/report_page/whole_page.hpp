// SPDX-License-Identifier: Apache-2.0
// A page of one capture, or of several: the ranks of a job, or two sides of a comparison.
#pragma once

#include "analyze/asked_step.hpp"
#include "base/result.hpp"
#include "host/page/page_file.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

struct page_inputs {
  std::vector<std::string> captures;
  std::vector<std::string> against;  // the new side of a comparison; empty: no comparison
  bool different_programs = false;
  asked_step step;                // a single one is what the timeline shows first
  bool whole_run = false;         // the advice is about all of it, not only about the steps
  std::size_t max_bars = 0;       // limit for all timelines together
  std::function<void()> advance;  // called for each record of the timelines
};

/// With several captures, the names of their blocks begin with "capture-N-"; "captures" describes
/// each.
result<page::page_contents> read_page(page_inputs const& inputs);

}  // namespace gpuprof::host::command
