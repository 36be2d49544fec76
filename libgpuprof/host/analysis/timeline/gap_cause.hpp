// SPDX-License-Identifier: Apache-2.0
// Why a GPU had nothing to do: decided by the work that ended the gap and by what the thread that
// launched it did meanwhile.
#pragma once

#include "host/analysis/timeline/gpu_item.hpp"
#include "host/analysis/timeline/host_calls.hpp"
#include "host/analysis/timeline/launch_pace.hpp"
#include "host/analysis/timeline/time_bucket.hpp"

namespace gpuprof::host {

/// What is known of the thread that launched the work which ended a gap.
struct launching_thread {
  std::deque<host_call> const* calls;  // in order of their beginning
  timestamp_ns previous_launch;        // before this one; 0: none
  bool calls_recorded = false;         // blocking ones at least
  bool is_first_of_kernel = false;     // libraries load a kernel when it is first launched
  bool loads_data = false;             // it was in a range that loads data
  bool is_between_steps = false;       // after the first step began, before the last ended, in none
};

struct gap_cause {
  time_bucket bucket{};
  name_id call{};    // which the thread was in or came from; 0: none
  call_kind kind{};  // of that
  /// What it would be shorter without the wait or the call, and nothing else changed.
  double sure_ns = 0;
};

/// `begin` to `end`: in which the GPU was idle; `after` ended it.
gap_cause cause_of_gap(timestamp_ns begin, timestamp_ns end, gpu_item const& after,
                       launching_thread const& thread, pace const& run);

}  // namespace gpuprof::host
