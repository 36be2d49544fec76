// SPDX-License-Identifier: Apache-2.0
// The words for stacks and for what the CPU did, in tables and findings.
#pragma once

#include "host/analysis/idle_causes.hpp"
#include "host/analysis/stack_times.hpp"
#include "host/reading/trace_contents.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace gpuprof::host::command {

/// The frame that says where in the program this is: the innermost of own code in Python, else of
/// own native code; null: there is neither.
stack_record const* named_frame(std::vector<stack_record> const& stacks, stack_id stack,
                                text_of_name const& text);
/// "train.py:61"; of native code, the function.
std::string place_of(stack_record const& frame, text_of_name const& text);

class stack_places {
 public:
  explicit stack_places(trace_contents& trace);

  /// The innermost frame in the program's own code, else the innermost one; null: no stack.
  stack_record const* own_frame_of(stack_id stack) const;
  /// "train.py:61", or empty.
  std::string where(stack_record const* frame) const;
  /// "runs Python", "waits in cuStreamSynchronize", "data loading: waits for a file".
  std::string words_of(idle_causes::key const& key) const;
  /// True if a frame of it belongs to torch.utils.data.
  bool loads_data(stack_id stack) const;
  /// True if a frame of it calls a torch.nn module.
  bool is_in_module(stack_id stack) const;

 private:
  trace_contents& trace_;
  std::vector<stack_record> const& stacks_;
};

/// Two standard errors, in points of a share, of one half among so many looks.
inline double share_error(double looks) noexcept {
  return looks > 0 ? 100 / std::sqrt(looks) : 100;
}

}  // namespace gpuprof::host::command
