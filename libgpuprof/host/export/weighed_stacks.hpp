// SPDX-License-Identifier: Apache-2.0
// The stacks of a capture with their GPU time, CPU time and idle time, as viewers of flame
// graphs want them: the innermost frame is the kernel or the call.
#pragma once

#include "host/analysis/stack_times.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpuprof::host {

/// Reads the work, the calls and the looks at threads in order of time. `advance` is called for
/// each row.
stack_times read_stack_times(trace_contents& trace, std::function<void()> const& advance);

/// A line of the program, a module, a kernel or a call.
struct stack_frame {
  enum class kind : std::uint8_t { line, module, kernel, call, other } is;
  std::string name, file;  // no file: not a line
  std::uint32_t first_line = 0, line = 0;
  bool is_native = false;  // the file is that of machine code; no line
  friend auto operator<=>(stack_frame const&, stack_frame const&) = default;
};

struct weighed_stack {
  std::vector<std::uint32_t> frames;  // outermost first, as indices
  stack_sum sum;
};

class weighed_stacks {
 public:
  /// Returns the frames of a stack, outermost first.
  using path_of_stack = std::function<std::vector<stack_frame>(stack_id)>;

  weighed_stacks(trace_contents& trace, stack_times const& times, path_of_stack const& path_of);

  std::vector<stack_frame> const& frames() const noexcept { return frames_; }
  /// Several may have the same frames.
  std::vector<weighed_stack> const& stacks() const noexcept { return stacks_; }

 private:
  using paths = std::map<stack_id, std::vector<std::uint32_t>>;

  std::uint32_t index_of(stack_frame one);
  void add_leaves(trace_contents& trace, stack_times const& times, paths const& of);

  std::vector<stack_frame> frames_;
  std::vector<weighed_stack> stacks_;
  std::map<stack_frame, std::uint32_t> known_;
};

/// Each frame is a line of Python, or a function of native code. `stacks` is indexed by stack_id
/// and must outlive the result.
weighed_stacks::path_of_stack lines_of_stack(trace_contents& trace,
                                             std::vector<stack_record> const& stacks);

}  // namespace gpuprof::host
