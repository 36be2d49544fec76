// SPDX-License-Identifier: Apache-2.0
// Decides when a capture starts and ends, from the settings and events. Pure: uses no clock, CUPTI
// or thread.
#pragma once

#include "guest/options/settings.hpp"

#include <cstdint>
#include <string>

namespace gpuprof::guest {

/// The caller reports events and reads wanted() after each. Times are monotonic nanoseconds.
class capture_plan {
 public:
  explicit capture_plan(settings const& options) : options_(options) {}

  /// Call when the process is up (CUDA initialized, NVTX in use, or the API called). The delay
  /// counts from here.
  void begin(std::uint64_t now);
  void profiler_start(std::uint64_t now);
  void profiler_stop(std::uint64_t now);
  void range_entered(std::uint64_t now);  // the NVTX range of --nvtx-capture; outermost only
  void range_left(std::uint64_t now);
  void step(std::uint64_t now);  // gpuprof_step(), or the end of a --step-range
  void api_start(std::uint64_t now);
  void api_stop(std::uint64_t now);
  /// Call when nothing can be recorded any more. The capture ends, and only api_start() can start
  /// another one. The program is not asked to end, because this end was not planned.
  void give_up();
  /// Ends delays and durations that have expired.
  void tick(std::uint64_t now);

  bool gave_up() const noexcept { return gave_up_; }
  /// True if a capture should be running.
  bool wanted() const noexcept { return wanted_; }
  /// True if tracing should run without a capture: in the warm-up steps of a schedule. Its records
  /// are discarded.
  bool warming_up() const noexcept { return warming_up_; }
  /// Number of captures started so far. If it has increased, a new capture is wanted, even if
  /// wanted() was already true before.
  std::uint32_t count() const noexcept { return count_; }
  /// The event that started the current or last capture, for the capture file.
  std::string const& trigger() const noexcept { return trigger_; }
  /// True if another capture can start automatically: by CUDA's profiler calls, a range, a step or
  /// a timer.
  bool armed() const noexcept;
  /// True if CUPTI must report calls of cudaProfilerStart.
  bool needs_cuda_profiler_calls() const noexcept;
  /// True if the program must be asked to end (the -shutdown variants).
  bool wants_shutdown() const noexcept { return shutdown_; }
  /// Says why there was no capture, in a sentence that begins in lower case. Empty if there was
  /// one, or if the delay is so long that no program waits for it.
  std::string why_none() const;
  /// Steps that have ended since begin().
  std::uint64_t steps() const noexcept { return steps_; }
  /// The time of the next necessary tick(); 0: no timer is running.
  std::uint64_t next_deadline() const noexcept;

 private:
  void start(std::string why, std::uint64_t now);
  void start_if_ready(std::string why, std::uint64_t now);
  void stop();
  void time_is_up();
  void end_of_range();
  void follow_schedule(std::uint64_t now);
  bool ready(std::uint64_t now) const noexcept { return begun_ && now >= ready_at_; }
  bool triggered_by_range() const noexcept { return options_.range != capture_range::none; }

  settings const& options_;
  bool begun_ = false;
  bool wanted_ = false;
  bool warming_up_ = false;
  bool finished_ = false;  // the settings allow no further capture
  bool gave_up_ = false;
  bool shutdown_ = false;
  bool came_too_early_ = false;  // a start event came before the delay was over
  std::uint64_t ready_at_ = 0;   // end of the delay
  std::uint64_t stop_at_ = 0;    // end of the duration; 0: none
  std::uint64_t steps_ = 0;
  std::uint64_t captured_cycle_ = 0;  // the last cycle of the schedule that was started, from 1
  std::uint32_t count_ = 0;
  std::string trigger_;
};

}  // namespace gpuprof::guest
