// SPDX-License-Identifier: Apache-2.0
// Reads to which place in a program the backward pass of PyTorch belongs, where operators were
// recorded (`--pytorch ops`).
#pragma once

#include "host/analysis/operator_times.hpp"
#include "host/reading/trace_contents.hpp"

#include <optional>

namespace gpuprof::host {

/// The domain of operators in this tree; 0: none were recorded.
name_id domain_of_operators(range_tree const& tree, text_of_name const& text);

class forward_stacks {
 public:
  /// Walks over the capture if it has operators.
  explicit forward_stacks(trace_contents& trace);
  forward_stacks(forward_stacks const&) = delete;
  forward_stacks& operator=(forward_stacks const&) = delete;

  /// The stack of the operator of the forward pass behind a launch of the backward pass; else the
  /// one that was recorded.
  stack_id of(range_id innermost, stack_id recorded) const noexcept {
    if (!times_) return recorded;
    auto const forward = times_->forward_stack(innermost);
    return raw(forward) != 0 ? forward : recorded;
  }

 private:
  range_tree tree_;
  std::optional<operator_times> times_;
};

}  // namespace gpuprof::host
