// SPDX-License-Identifier: Apache-2.0
// Decides when a capture starts and ends, from the settings and what happens. Pure: no clock, no
// CUPTI, no thread.
#pragma once

#include "guest/options/settings.hpp"

#include <cstdint>
#include <string>

namespace gpuprof::guest {

/// Feed it events; read wanted() after each. Times are monotonic nanoseconds.
class capture_plan {
 public:
  explicit capture_plan(settings const& options) : options_(options) {}

  /// The process has come up (CUDA initialized, NVTX in use, or the API called): the delay counts
  /// from here.
  void begin(std::uint64_t now);
  void profiler_start(std::uint64_t now);
  void profiler_stop(std::uint64_t now);
  void range_entered(std::uint64_t now);  // the NVTX range of --nvtx-capture, outermost only
  void range_left(std::uint64_t now);
  void step(std::uint64_t now);  // gpuprof_step(), or an end of the --step-range
  void api_start(std::uint64_t now);
  void api_stop(std::uint64_t now);
  /// Nothing can be recorded any more: the capture ends, and only api_start() starts another. The
  /// program is not asked to end, since nobody planned this.
  void give_up();
  /// Lets delays and durations run out.
  void tick(std::uint64_t now);

  bool gave_up() const noexcept { return gave_up_; }
  /// Whether a capture should be running.
  bool wanted() const noexcept { return wanted_; }
  /// Tracing should run although no capture does: the warm-up steps of a schedule. What it yields
  /// is thrown away.
  bool warming_up() const noexcept { return warming_up_; }
  /// Captures started so far. When it has grown, a new capture is wanted even if wanted() was true
  /// before.
  std::uint32_t count() const noexcept { return count_; }
  /// What started the current or last capture, for the capture file.
  std::string const& trigger() const noexcept { return trigger_; }
  /// A further capture may start by itself: through CUDA's profiler calls, a range, a step or a
  /// timer.
  bool armed() const noexcept;
  /// CUPTI must be listening for cudaProfilerStart.
  bool needs_cuda_profiler_calls() const noexcept;
  /// The program is to be asked to end (the -shutdown variants).
  bool wants_shutdown() const noexcept { return shutdown_; }
  /// Why there has been no capture, in a sentence that begins small; empty: there has been one,
  /// or the delay is one that no program waits for.
  std::string why_none() const;
  /// When tick() next matters; 0: no timer runs.
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
  bool came_too_early_ = false;  // what starts a capture, before the delay was over
  std::uint64_t ready_at_ = 0;   // end of the delay
  std::uint64_t stop_at_ = 0;    // end of the duration; 0: none
  std::uint64_t steps_ = 0;
  std::uint64_t captured_cycle_ = 0;  // of the schedule, counted from 1: the last that was begun
  std::uint32_t count_ = 0;
  std::string trigger_;
};

}  // namespace gpuprof::guest
