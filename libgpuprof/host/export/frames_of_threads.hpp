// SPDX-License-Identifier: Apache-2.0
// Reads the slices of Python frames of a capture, and names them as PyTorch's profiler does.
#pragma once

#include "host/analysis/python_frames.hpp"
#include "host/export/export_job.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace gpuprof::host {

class frames_of_threads {
 public:
  explicit frames_of_threads(export_job& job);

  /// False if the capture has no Python stacks.
  bool any() const noexcept { return stacks_.size() > 1; }
  /// Calls begun(frame) and ended(frame), see python_frames. Frames of threads for which
  /// `is_cut(os_thread)` end where a range of the thread begins or ends.
  void read(std::function<bool(std::uint32_t)> const& is_cut, python_frames::receiver const& begun,
            python_frames::receiver const& ended);
  /// "torch/nn/modules/linear.py(125): forward", with the line of the call in it.
  std::string name_of(stack_id frame) const;
  stack_record const& frame(stack_id id) const { return stacks_[raw(id)]; }

 private:
  export_job& job_;
  std::vector<stack_record> const& stacks_;
};

/// The threads that have ranges of PyTorch's operators, thousands for each step.
std::set<std::uint32_t> threads_with_operators(export_job& job);

}  // namespace gpuprof::host
