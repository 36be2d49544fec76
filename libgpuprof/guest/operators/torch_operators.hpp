// SPDX-License-Identifier: Apache-2.0
// PyTorch's operators and autograd nodes, and record_function of a program, as push/pop ranges.
// PyTorch calls back at the begin and at the end of each.
#pragma once

#include <string>

namespace gpuprof::guest {

enum class torch_outcome {
  begun,       // or was begun before
  not_loaded,  // the process has no PyTorch, or not yet
  unusable,    // it lacks a function
};

/// Looks for PyTorch among the loaded libraries and asks it to call back, until the matching end.
/// May wait until another thread has loaded its libraries. `reason`: a sentence without its stop,
/// if PyTorch cannot be used.
torch_outcome begin_torch_operators(std::string& reason) noexcept;

/// Operators that have begun still end. Does nothing while the process exits, since PyTorch may be
/// gone.
void end_torch_operators() noexcept;

}  // namespace gpuprof::guest
