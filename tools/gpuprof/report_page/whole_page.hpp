// SPDX-License-Identifier: Apache-2.0
// A page of one capture, or of several: the ranks of a job, or what is compared.
#pragma once

#include "base/result.hpp"
#include "host/page/page_file.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

struct page_inputs {
  std::vector<std::string> captures;
  std::vector<std::string> against;  // the new side of a comparison; empty: there is none
  bool different_programs = false;
  std::string step_name;          // empty: found
  std::size_t max_bars = 0;       // of all timelines together
  std::function<void()> advance;  // hears of each record of the timelines
};

/// Blocks of several captures begin with "capture-N-"; "captures" says what each is.
result<page::page_contents> read_page(page_inputs const& inputs);

}  // namespace gpuprof::host::command
