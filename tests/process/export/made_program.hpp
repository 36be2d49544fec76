// SPDX-License-Identifier: Apache-2.0
// A program that a capture is made of: one thread that calls the driver and the streams of one GPU,
// with a time for everything, so that what each nanosecond was spent on is known.
#pragma once

#include "made_capture.hpp"

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof {

/// What things cost on this GPU; its peak records say the same. Figures of an H200.
struct made_costs {
  static constexpr std::uint64_t launch_call = 2'800;     // the thread, for each launch
  static constexpr std::uint64_t launch_latency = 6'400;  // from the call to the start, if idle
  static constexpr std::uint64_t between = 1'060;         // two kernels of one stream
  static constexpr std::uint64_t before_copy = 4'900;     // a kernel and a copy to the host
  static constexpr std::uint64_t graph_node = 500;        // two nodes of one graph
  static constexpr std::uint64_t wake_up = 2'000;         // from the end of the work to the return
  static constexpr std::size_t queue = 1'024;             // launches that the driver takes ahead
  static constexpr double h2d = 55.4, d2h = 55.2, h2d_pageable = 17.0;  // bytes in a nanosecond
};

/// The thread's clock runs with what it does; a stream runs what it is given, in order, not before
/// it was launched. Records of calls are those of the default: calls that block, by the driver's
/// names.
class made_program {
 public:
  made_program(std::string const& path, recorded_calls recorded);
  ~made_program();

  /// The thread, outside of CUDA.
  void work(std::uint64_t length) { now_ += length; }
  /// A call that takes its time and touches no stream, as the loading of a module.
  void call(std::string_view function, std::uint64_t length);
  /// Returns when the stream is done (0: all are).
  void synchronize(std::uint32_t stream = 7);
  /// `function`: cuMemAlloc_v2 or cuMemFree_v2. The latter waits for the GPU first.
  /// `held`: for so long, in the call, recording held it.
  void allocate(std::uint64_t bytes, std::uint64_t length, std::uint64_t held = 0);
  void release(std::uint64_t bytes, std::uint64_t length);

  shape_id shape(std::string_view name, std::uint32_t blocks) {
    return out_.shape(name, {blocks, 1, 1});
  }
  void kernel(shape_id shape, std::uint64_t length, std::uint32_t stream = 7);
  /// Kernels of one launched graph.
  void graph(shape_id shape, std::uint64_t length, unsigned nodes, std::uint32_t stream = 7);
  /// Pinned and asynchronous, or pageable: then the thread stays in the call while it lasts.
  void upload(std::uint64_t bytes, memory_kind host, std::uint32_t stream = 7);
  /// Blocks the thread, as `.item()` does for 4 bytes.
  void download(std::uint64_t bytes, std::uint32_t stream = 7);
  /// The same by an asynchronous copy to pageable memory, which waits as well, though its call is
  /// not among those recorded by default, and a wait for the stream.
  void download_and_wait(std::uint64_t bytes, std::uint32_t stream = 7);
  /// Time that recording takes from the thread: the program by itself is faster by that.
  void recording(std::uint64_t length) {
    now_ += length;
    recording_ += length;
  }
  /// Nothing that is launched into `stream` later starts before `time` (an event that is late), or
  /// before what `other` has now is done.
  void wait_until(std::uint32_t stream, std::uint64_t time);
  void wait_for(std::uint32_t stream, std::uint32_t other) { wait_until(stream, free_[other]); }
  /// The legacy default stream: what comes later starts after all that is there.
  void join_streams();

  void begin(std::string_view range);
  void end();
  /// A range "step", in which the steps of a loop are.
  template <class Work>
  void steps(unsigned count, Work work_of) {
    for (unsigned i = 0; i < count; ++i) {
      begin("step");
      work_of(i);
      end();
    }
    step_count_ = count;
  }

  std::uint64_t now() const noexcept { return now_; }
  /// How long nothing ran before what was launched last; 0: it ran beside or right after something.
  std::uint64_t idle_before() const noexcept { return idle_before_; }
  /// The loop begins now: what came before is not in the capture's window.
  void open_window() { opened_ = now_; }
  /// Prints what the capture's readers should find: "name value" lines.
  void known(std::string_view name, std::uint64_t value);

 private:
  void peaks();
  std::uint64_t busy();
  std::uint64_t start_of(std::uint32_t stream, std::uint64_t between);
  void ran(std::uint64_t start, std::uint64_t length, std::uint32_t stream);
  correlation_id record_call(std::string_view function, std::uint64_t start, bool blocking = true);
  void copy(std::uint64_t start, std::uint64_t length, std::uint64_t launched, std::uint64_t bytes,
            copy_kind kind, memory_kind host, std::uint32_t stream, correlation_id correlation,
            bool asynchronous);
  void allocation(memory_operation operation, std::uint64_t bytes, correlation_id correlation);
  range_id innermost() const { return open_.empty() ? range_id{} : open_.back(); }

  made_capture out_;
  recorded_calls recorded_;
  std::uint64_t now_ = 100'000, opened_ = 100'000;
  std::map<std::uint32_t, std::uint64_t> free_;               // when a stream is done, by number
  std::deque<std::uint64_t> queued_;                          // starts of what was launched last
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ran_;  // all of the GPU: from, to
  std::uint64_t device_free_ = 0, idle_before_ = 0;
  std::deque<range_id> open_;
  std::uint32_t correlations_ = 0;
  unsigned step_count_ = 0;
  std::uint64_t recording_ = 0;
};

}  // namespace gpuprof
