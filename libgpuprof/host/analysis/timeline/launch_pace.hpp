// SPDX-License-Identifier: Apache-2.0
// How fast this run's threads launch, and how soon its GPUs start what is launched: the measures
// by which gaps are judged.
#pragma once

#include "host/analysis/timeline/gpu_item.hpp"
#include "host/analysis/timeline/log_histogram.hpp"

#include <map>
#include <unordered_map>

namespace gpuprof::host {

/// Nanoseconds. Taken from the run itself: clocks of CPU and GPU differ by some microseconds, and
/// machines by much more.
struct pace {
  double start_delay =
      5'000;  // from a launching call to the start of its work on an idle GPU, least
  double usual_delay = 7'000;   // the same, median
  double graph_delay = 0;       // the same of graphs: each node costs some; 0: not measured
  double back_to_back = 1'100;  // between two kernels of a stream that were both queued
  double before_copy = 0;       // the same, where the second is a copy or a fill: at least that
  double launch_distance = 0;   // between two launches of a thread; 0: not seen
  double quick_launch = 0;      // of a tenth of them: one right after the other; 0: not seen
  double kernel_length = 0;     // median
  /// Without a profiler, of the peak synchronize: from the end of work to the return of a wait, and
  /// from a launch to its start. 0: not measured.
  double round_trip = 0;
  bool delay_is_measured = false;
};

class launch_pace {
 public:
  /// Kernels, in about the order of their starts.
  void add(gpu_item const& kernel);
  /// Copies and fills, among them.
  void add_transfer(gpu_item const& transfer);
  /// `peak_delay`: of the peak launch_latency, where the run has too few gaps of its own; 0: none.
  pace measured(double peak_delay = 0) const;

 private:
  void add_pause(gpu_item const& item, log_histogram& pauses);

  std::map<device_id, timestamp_ns> busy_until_;
  std::unordered_map<std::uint64_t, timestamp_ns> stream_end_;
  std::unordered_map<thread_index, timestamp_ns> last_launch_;
  log_histogram delays_, graph_delays_, pauses_, copy_pauses_, distances_, lengths_;
};

}  // namespace gpuprof::host
