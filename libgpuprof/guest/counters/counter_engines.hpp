// SPDX-License-Identifier: Apache-2.0
// Both engines that read counters, taking turns: around launches, and in windows of time.
#pragma once

#include "base/ledger.hpp"
#include "guest/counters/engine_turns.hpp"
#include "guest/counters/launches/launch_reader.hpp"
#include "guest/counters/sampling_budget.hpp"
#include "guest/counters/used_devices.hpp"
#include "guest/counters/windows/pm_sampler.hpp"

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace gpuprof::guest {

struct counter_options {
  bool around_launches = true;
  bool in_windows = true;
  reading_options launches;
  sampling_options sampling;
  double budget_percent = 1;  // of the running time, for both; 0: no limit
  std::uint64_t once_ns = sampling_budget::usual_once_ns;  // and once, on launches
  /// The user wants this run explained, however short it is: launches are read before time is
  /// sampled, and `once_ns` may be spent from the start.
  bool explains = false;
  job_place place;  // among the ranks of a job
};

/// What the counters gave.
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

  // Threads of the program, inside CUPTI's callbacks; and whoever reads kernel records.
  launch_passage& passage() noexcept { return launches_.passage(); }
  /// GPUs are set up for sampling: not while one of their contexts is destroyed.
  bool holds_gpus() const noexcept { return holds_gpus_.load(); }
  void want_gpus_released() noexcept { release_gpus_.store(true, std::memory_order_release); }

  // Whoever switches captures.
  void resume() noexcept;
  void pause() noexcept;
  bool is_on() const noexcept { return on_.load(std::memory_order_acquire); }
  /// Nothing is counted any more since the last capture ended.
  bool is_idle() const noexcept { return is_idle_.load(std::memory_order_acquire); }
  /// CUPTI is not to be called any more, from any thread: it has shut itself down, or the process
  /// ends without waiting for us.
  void abandon() noexcept;

  // The worker's thread ------------------------------------------------------

  /// How long until the next turn is of use.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  /// `closing`: nothing is to be left in the counters.
  std::uint64_t turn(bool closing, counter_results& to, device_counters::intern const& names);
  /// Releases the counters, as before cuptiFinalize; what was counted comes with the next turn.
  void release_all(counter_results& to) noexcept;
  /// Lines for the log, none of them twice in a process. Unless `all`, those that are new are held
  /// back until the next call: when CUPTI shuts itself down, calls may fail before it says so.
  std::vector<std::string> take_warnings(bool all);

  /// Once in a process, where every launch is read: what that does to the program. Empty: not now.
  std::string take_slowdown_line();

  reading_counts const& launch_counts() const noexcept { return launches_.counts(); }
  void report(ledger& to) const;
  launch_signatures::tally launch_tally() const noexcept {
    return options_.launches.every_launch ? launch_signatures::tally{} : launches_.signatures();
  }
  sampling_counts const& window_counts() const noexcept { return sampler_.counts(); }
  sampling_budget const& budget() const noexcept { return budget_; }
  bool reads_launches() const noexcept { return launches_.holds_counters(); }
  work_gate const& gate() const noexcept { return launches_.gate(); }

 private:
  counter_needs needs();
  bool may_read_now() const noexcept;
  bool may_open_files(std::uint64_t now_ns) noexcept;
  bool anything_runs() const noexcept;
  void begin_window(counter_results& to, device_counters::intern const& names);
  void end_window(counter_results& to);
  void park(counter_results& to, device_counters::intern const& names);
  std::uint64_t take_turn(bool closing, counter_results& to, device_counters::intern const& names);
  std::uint64_t become_idle(counter_results& to, device_counters::intern const& names);
  void release_gpus(counter_results& to);
  void charge_sampling() noexcept;
  void release_sampling(counter_results& to);

  counter_options const options_;
  sampling_budget budget_;
  std::uint32_t next_metric_ = 1;  // the worker's thread alone
  std::atomic<bool> halted_{false};
  used_devices devices_;
  gpu_pauses pauses_;
  launch_reader launches_;
  pm_sampler sampler_;
  std::atomic<bool> on_{false}, is_idle_{true}, holds_gpus_{false}, release_gpus_{false};

  // The worker's thread alone.
  job_turns job_;
  engine_turns turns_;
  bool in_window_ = false, pace_is_said_ = false;
  bool has_files_ = true, lacks_files_ = false;  // now; since the last warnings
  std::uint64_t asked_for_files_ns_ = 0;         // monotonic
  std::uint64_t charged_until_ = 0;              // sampling that is held; monotonic
  std::uint64_t launches_at_window_ = 0;         // when the latest one ended
  // Ranges that are on while nobody wants them: when they are to be stopped; monotonic.
  std::uint64_t parks_from_ns_ = 0, put_off_parking_ns_ = 0;
  std::uint64_t idle_wanted_since_ = 0;  // monotonic; 0: it is not
  std::set<std::string> said_;
  std::vector<std::string> held_back_;
};

}  // namespace gpuprof::guest
