// SPDX-License-Identifier: Apache-2.0
// Makes slices of Python frames from the stacks of launches, calls and looks at threads, as a
// timeline shows them.
#pragma once

#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// A frame, from the first to the last of the launches, calls and looks of a thread that follow
/// each other and have it and all its callers on their stacks. The frame was seen at these moments,
/// it was not traced in between.
struct python_frame {
  std::uint32_t os_thread = 0;
  stack_id frame{};  // its row of the table of stacks
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  // id of the frame that has called it; 0: outermost
  timestamp_ns start, end;   // no end when it begins
};

/// Give it the rows of a capture in order of time, then call finish(). Slices of a thread nest. No
/// slice begins or ends inside of a call.
class python_frames {
 public:
  using receiver = std::function<void(python_frame const&)>;

  /// `stacks`: indexed by stack_id; it must outlive this object. `begun` gets frames when they
  /// begin, callers first, and `ended` when they end, callers last.
  python_frames(std::vector<stack_record> const& stacks, receiver begun, receiver ended);

  /// Work without a recorded call is taken for a call of `call_ns`.
  template <class Work>
  void add(Work const& work, std::uint32_t os_thread, std::int64_t call_ns) {
    if (work.launched.value != 0) launch(work.launched, os_thread, call_ns, work.stack);
  }
  void add(api_record const& call);
  void add(thread_sample_record const& looks);
  /// All frames of the thread end before this moment, and begin anew after it.
  void cut(std::uint32_t os_thread, timestamp_ns at);
  void finish();

 private:
  struct moment {
    std::uint64_t start = 0, end = 0;
    std::uint32_t os_thread = 0;
    stack_id stack{};
    bool is_cut = false;
  };
  /// Calls and launches that overlap count as one, with the first stack that one of them has.
  struct of_thread {
    std::vector<python_frame> open;  // the innermost last
    std::uint64_t call_start = 0, call_end = 0;
    std::uint64_t last_seen = 0;  // the open frames were on the stack until then
    stack_id stack{};
    bool call_has_stack = false, is_cut = false;
  };

  void launch(timestamp_ns launched, std::uint32_t os_thread, std::int64_t call_ns, stack_id stack);
  void put(moment const& one);
  void take_first(std::size_t count);
  void take(moment const& one);
  void see(of_thread& thread, moment const& at);
  void end_from(of_thread& thread, std::size_t depth);

  std::vector<stack_record> const& stacks_;
  receiver begun_, ended_;
  std::vector<moment> moments_;  // GPU work comes in the order in which it ran, not of launches
  std::unordered_map<std::uint32_t, of_thread> threads_;
  std::vector<stack_id> path_;  // reused
  std::uint64_t last_id_ = 0;
};

}  // namespace gpuprof::host
