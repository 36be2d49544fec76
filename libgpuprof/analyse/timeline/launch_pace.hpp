// SPDX-License-Identifier: Apache-2.0
// How fast this run's threads launch, and how soon its GPUs start what is launched: the measures
// by which gaps are judged.
#pragma once

#include "analyse/timeline/gpu_item.hpp"
#include "analyse/timeline/log_histogram.hpp"

#include <map>
#include <unordered_map>

namespace gpuprof {

/// Nanoseconds. Taken from the run itself: clocks of CPU and GPU differ by some microseconds, and
/// machines by much more.
struct pace {
  double start_delay =
      5'000;  // from a launching call to the start of its work on an idle GPU, least
  double usual_delay = 7'000;   // the same, median
  double back_to_back = 1'100;  // between two kernels of a stream that were both queued
  double launch_distance = 0;   // between two launches of a thread; 0: not seen
  double kernel_length = 0;     // median
  bool delay_is_measured = false;
};

class launch_pace {
 public:
  /// All items, in about the order of their starts.
  void add(gpu_item const& item);
  /// `peak_delay`: of the peak launch_latency, where the run has too few gaps of its own; 0: none.
  pace measured(double peak_delay = 0) const;

 private:
  std::map<device_id, timestamp_ns> busy_until_;
  std::unordered_map<std::uint64_t, timestamp_ns> stream_end_;
  std::unordered_map<thread_index, timestamp_ns> last_launch_;
  log_histogram delays_, pauses_, distances_, lengths_;
};

}  // namespace gpuprof
