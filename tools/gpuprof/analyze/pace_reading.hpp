// SPDX-License-Identifier: Apache-2.0
// Measures how fast a run launches, in the walk over its kernels that other consumers need anyway.
#pragma once

#include "host/analysis/timeline/launch_pace.hpp"
#include "host/reading/capture_walk.hpp"
#include "host/reading/merged_blocks.hpp"
#include "host/reading/ordered_rows.hpp"
#include "host/reading/trace_contents.hpp"
#include "whatif/read_steps.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

/// A kernel without the columns that the pace does not need.
struct launched_kernel {
  timestamp_ns start;
  duration_ns duration;
  timestamp_ns launched;
  device_id device{};
  context_id context{};
  stream_id stream{};
  thread_index thread{};
  bool of_graph = false;
};
using kernel_block = std::vector<launched_kernel>;

/// Calls `take` with the kernels of each block, in file order.
void join_kernel_blocks(capture_walk& walk, std::function<void(kernel_block)> take);

/// Hands the blocks of a walk over to another thread, which reads the same capture with a reader of
/// its own. At most some blocks are waiting.
class kernel_block_queue {
 public:
  /// The thread of the walk. Waits while the queue is full and the other thread takes blocks.
  void add(kernel_block block);
  void end();
  /// The other thread. Waits for the next block; returns nothing after the last one.
  std::optional<kernel_block> next();
  void stop_taking();

 private:
  std::mutex mutex_;  // protects the members below
  std::condition_variable changed_;
  std::deque<kernel_block> waiting_;
  bool has_ended_ = false, is_taken_ = true;
};

/// Everything that is measured before the pass in order of time, for which it is needed.
class pace_reading {
 public:
  /// Also looks for the end of the work that was launched up to `launched_until`. The trace must
  /// outlive this object.
  pace_reading(trace_contents& trace, timestamp_ns launched_until);

  /// Adds the next block of the file. Reads copies and fills of the trace, so the trace must not be
  /// in the middle of another table.
  void add(kernel_block block);
  /// Call after the last block, and once. Reads all kernels again if they cannot be put in order
  /// with the memory of some blocks, or if some are damaged.
  void finish();

  launch_pace const& measured() const noexcept { return found_->pace; }
  /// The launch of the last of the first tenth of the kernels; 0: not known.
  timestamp_ns tenth_launched() const noexcept { return found_->tenth_launched; }
  sampled_launches take_launches() noexcept { return std::move(found_->launches); }
  timestamp_ns ended() const noexcept { return found_->ended; }

 private:
  /// Takes all work in order of time.
  struct work_in_order {
    timestamp_ns launched_until;
    std::uint64_t all_kernels = 0;
    launch_pace pace{};
    timestamp_ns tenth_launched{};
    std::uint64_t kernels = 0;
    sampled_launches launches{};
    timestamp_ns ended{};

    work_in_order(timestamp_ns until, std::uint64_t count);
    void operator()(launched_kernel const& kernel);
    void operator()(kernel_record const& kernel);
    void operator()(copy_record const& copy) { take_transfer(copy); }
    void operator()(memset_record const& fill) { take_transfer(fill); }
    template <class Transfer>
    void take_transfer(Transfer const& transfer);
    template <class Work>
    void note_end(Work const& work);
  };

  void take_ready();
  void take_transfers(std::optional<timestamp_ns> until);
  void look_for_transfer();
  void read_in_order();

  trace_contents& trace_;
  timestamp_ns const launched_until_;
  std::uint64_t const all_kernels_;
  std::optional<work_in_order> found_;
  time_sorter<launched_kernel> kernels_;
  bool in_order_ = true;
  std::optional<ordered_rows<copy_record>> copies_;
  std::optional<ordered_rows<memset_record>> fills_;
  std::optional<timestamp_ns> next_transfer_;
};

}  // namespace gpuprof::host::command
