// SPDX-License-Identifier: Apache-2.0
// Chooses the steps of a capture to replay: representative, and few enough.
#pragma once

#include "base/result.hpp"
#include "host/reading/trace_contents.hpp"
#include "whatif/read_steps.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::command {

struct chosen_steps {
  std::string name;
  std::vector<std::uint32_t> instances;  // indices into the range tree, one after the other
  std::size_t all = 0;
  std::size_t first = 0, could_be_chosen = 0;  // as steps_of_other_rank counts them
  thread_index thread{};
  timestamp_ns begin, end;
  std::vector<std::string> remarks;
  /// Instead of instances: where stretches of equal length begin. `all_slices` of them would launch
  /// as much as the steady state of the run.
  std::vector<timestamp_ns> slices;
  double all_slices = 0;

  std::size_t count() const noexcept { return slices.empty() ? instances.size() : slices.size(); }
};

result<chosen_steps> choose_steps(trace_contents& trace, steps_question const& question);

}  // namespace gpuprof::host::command
