// SPDX-License-Identifier: Apache-2.0
// Owns both engines that read counters, and lets them take turns: readings around launches, and
// sampling in windows.
#pragma once

#include "base/ledger.hpp"
#include "guest/counters/engine_turns.hpp"
#include "guest/counters/launches/launch_reader.hpp"
#include "guest/counters/lost_time.hpp"
#include "guest/counters/recurring_work.hpp"
#include "guest/counters/sampling_budget.hpp"
#include "guest/counters/used_devices.hpp"
#include "guest/counters/windows/pm_sampler.hpp"
#include "guest/counters/windows/sampling_effort.hpp"
#include "model/records.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace gpuprof::guest {

struct counter_options {
  bool around_launches = true;
  bool in_windows = true;
  reading_options launches;
  sampling_options sampling;
  double budget_percent = 1;  // of the run time, for both engines; 0: no limit
  std::uint64_t once_ns = sampling_budget::usual_once_ns;  // may be spent once on launches, too
  /// The user wants this run explained even if it is short: launches are read before sampling
  /// starts, and `once_ns` may be spent from the start.
  bool explains = false;
  job_place place;  // among the ranks of a job
  /// Called before a window, or when the first one of a burst has begun, and when it has ended:
  /// graphs are recorded by nodes meanwhile.
  std::function<void(bool all)> record_nodes;
};

/// Results of the counters.
struct counter_results {
  std::vector<metric_record> metrics;
  std::vector<counter_reading> launches;
  sampling_results sampling;
  std::vector<hold_record> holds;
  std::vector<pause_record> pauses;
};

/// One per process, never destroyed.
class counter_engines {
 public:
  counter_engines(cupti_api const& api, cuda_driver const& driver, counter_options options);

  // Called by threads of the program inside CUPTI's callbacks, and by the reader of kernel records.
  launch_passage& passage() noexcept { return launches_.passage(); }
  /// Called by the reader of kernel records.
  void ran(kernel_record const& kernel) noexcept {
    auto const ns = static_cast<std::uint64_t>(kernel.duration.value);
    lengths_.add(ns, ns);
    auto const end = kernel.start + kernel.duration;
    auto const is_timed_node = raw(kernel.graph) != 0 && raw(kernel.time_of) == 0;
    if (is_timed_node && kernel.launched.value != 0 && kernel.launched < end)
      in_graphs_.add(end.value - kernel.launched.value, 1);
    launches_.passage().ran(kernel.correlation, ns, raw(kernel.graph) != 0);
  }
  /// True if GPUs are set up for sampling, which must not be so while one of their contexts is
  /// destroyed.
  bool holds_gpus() const noexcept { return holds_gpus_.load(); }
  void want_gpus_released() noexcept { release_gpus_.store(true, std::memory_order_release); }

  // Called by the thread that starts and stops captures.
  void resume() noexcept;
  void pause() noexcept;
  bool is_on() const noexcept { return on_.load(std::memory_order_acquire); }
  /// True if counting has stopped since the last capture ended.
  bool is_idle() const noexcept { return is_idle_.load(std::memory_order_acquire); }
  /// Stops all calls of CUPTI, from any thread: CUPTI has shut itself down, or the process ends
  /// without waiting for us.
  void abandon() noexcept;

  // Called by the worker's thread ----------------------------------------------

  /// The result of turn() if no further turn is needed.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  /// `closing`: take everything out of the counters. Returns the time until the next turn is
  /// useful, in ns.
  std::uint64_t turn(bool closing, counter_results& to, device_counters::intern const& names);
  /// Releases the counters, for example before cuptiFinalize. The next turn returns what was
  /// counted.
  void release_all(counter_results& to) noexcept;
  /// Returns lines for the log, each at most once per process. Unless `all`, new lines are held
  /// back until the next call, because calls may fail just before CUPTI reports that it has shut
  /// down.
  std::vector<std::string> take_warnings(bool all);

  /// With every_launch: returns a line, once per process, on how much this slows the program down.
  /// Empty: not now.
  std::string take_slowdown_line();

  reading_counts const& launch_counts() const noexcept { return launches_.counts(); }
  void report(ledger& to) const;
  launch_signatures::tally launch_tally() const noexcept {
    return options_.launches.every_launch ? launch_signatures::tally{} : launches_.signatures();
  }
  sampling_counts const& window_counts() const noexcept { return sampler_.counts(); }
  sampling_budget const& budget() const noexcept { return budget_; }
  /// See sampling_budget.
  void note_others(std::uint64_t ns) noexcept { budget_.note_others(ns); }
  bool reads_launches() const noexcept { return launches_.holds_counters(); }
  work_gate const& gate() const noexcept { return launches_.gate(); }

 private:
  counter_needs needs();
  bool may_read_now() const noexcept;
  bool may_open_files(std::uint64_t now_ns) noexcept;
  bool gpus_rest(std::uint64_t now_ns) noexcept;
  bool is_steady(std::uint64_t now_ns) noexcept;
  bool anything_runs() const noexcept;
  void begin_window(counter_results& to, device_counters::intern const& names);
  void end_window(counter_results& to);
  void park(counter_results& to, device_counters::intern const& names);
  std::uint64_t take_turn(bool closing, counter_results& to, device_counters::intern const& names);
  std::uint64_t become_idle(counter_results& to, device_counters::intern const& names);
  void release_gpus(counter_results& to);
  void charge_sampling() noexcept;
  bool may_use_cpu(std::size_t gpus, std::uint64_t now_ns, std::uint64_t windows,
                   bool is_steady) const noexcept;
  void choose_interval() noexcept;
  void note_pace(bool is_after) noexcept;
  void release_sampling(counter_results& to);
  std::uint64_t prepare_window();
  bool is_prepared(std::uint64_t now_ns) const noexcept;
  void record_nodes(bool all);

  counter_options const options_;
  sampling_budget budget_;
  std::uint32_t next_metric_ = 1;  // used by the worker's thread only
  std::atomic<bool> halted_{false};
  used_devices devices_;
  gpu_pauses pauses_;
  launch_reader launches_;
  pm_sampler sampler_;
  known_lengths lengths_, in_graphs_;     // in_graphs_: from the launch of the graph to the end
  std::atomic<std::uint64_t> cpu_ns_{0};  // of the worker's thread
  std::atomic<std::uint64_t> lost_ns_{0}, lost_error_ns_{0};  // error 0: not known
  std::atomic<bool> has_worked_{false};                       // steadily, at some time
  std::atomic<bool> on_{false}, is_idle_{true}, holds_gpus_{false}, release_gpus_{false};

  // Used by the worker's thread only.
  job_turns job_;
  engine_turns turns_;
  recurring_work work_;
  lost_time lost_;
  bool was_taken_ = false;  // after the last turn, somebody had the counters
  sampling_effort effort_;
  std::uint64_t interval_ns_;      // of the next windows
  std::uint64_t decoding_ns_ = 0;  // CPU time
  bool in_window_ = false, pace_is_said_ = false;
  std::uint64_t nodes_since_ns_ = 0;  // graphs are recorded by nodes since then; 0: they are not
  bool has_files_ = true, lacks_files_ = false;  // now; since the last warnings
  std::uint64_t asked_for_files_ns_ = 0;         // monotonic
  std::uint64_t charged_until_ = 0;              // until when sampling was charged; monotonic
  std::uint64_t launches_at_window_ = 0;         // launches when the last window ended
  std::uint64_t ran_ns_ = 0, steady_ns_ = 0;     // when something ran, and steadily; monotonic
  // When to stop ranges that are on but no longer wanted; monotonic.
  std::uint64_t parks_from_ns_ = 0, put_off_parking_ns_ = 0;
  std::uint64_t idle_wanted_since_ = 0;  // monotonic; 0: not wanted
  std::set<std::string> said_;
  std::vector<std::string> held_back_;
};

}  // namespace gpuprof::guest
