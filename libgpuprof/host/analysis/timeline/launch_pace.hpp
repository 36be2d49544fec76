// SPDX-License-Identifier: Apache-2.0
// Measures how fast the threads of this run launch and how soon its GPUs start the work. Gaps are
// judged by these values.
#pragma once

#include "host/analysis/timeline/gpu_item.hpp"
#include "host/analysis/timeline/log_histogram.hpp"
#include "host/analysis/timeline/recent_map.hpp"

#include <algorithm>
#include <map>

namespace gpuprof::host {

inline constexpr double longest_launching_ns = 200'000;
/// CPU work of this length before a launch is no part of launching, in any language: a CUDA graph
/// does not remove it.
inline constexpr double own_work_ns = 5 * longest_launching_ns;

/// All in nanoseconds. Measured in the run itself, because CPU and GPU clocks differ by some
/// microseconds, and machines differ much more.
struct pace {
  double start_delay =
      5'000;  // minimum from a launching call to the start of its work on an idle GPU
  double usual_delay = 7'000;   // median of the same
  double graph_delay = 0;       // median for graphs, whose nodes add time; 0: not measured
  double back_to_back = 1'100;  // between two kernels of a stream that were both queued
  double before_copy = 0;       // the same before a copy or fill; at least `back_to_back`
  double launch_distance = 0;   // median between two launches of a thread; 0: not seen
  double kernel_length = 0;     // median
  /// Without a profiler, from the peak test `synchronize`: from the end of work to the return of a
  /// wait, plus from a launch to its start. 0: not measured.
  double round_trip = 0;
  bool delay_is_measured = false;

  /// If a thread pauses between two launches for longer, it does something other than launching: it
  /// takes more than four usual distances. Even Python needs less than 200 us, which counts if
  /// launches are rare (a graph per step), because the usual distance says nothing then.
  double longest_launching() const noexcept {
    return std::min(4 * launch_distance, longest_launching_ns);
  }
};

class launch_pace {
 public:
  /// Kernels must come roughly in order of start.
  void add(gpu_item const& kernel);
  /// Copies and fills, in order with the kernels.
  void add_transfer(gpu_item const& transfer);
  /// `peak_delay` is the result of the peak test launch_latency, used if the run has too few gaps
  /// of its own; 0: none.
  pace measured(double peak_delay = 0) const;

 private:
  void add_pause(gpu_item const& item, log_histogram& pauses);

  std::map<device_id, timestamp_ns> busy_until_;
  recent_map<std::uint64_t, timestamp_ns> stream_end_;
  recent_map<thread_index, timestamp_ns> last_launch_;
  log_histogram delays_, graph_delays_, pauses_, copy_pauses_, distances_, lengths_;
};

}  // namespace gpuprof::host
