// Both engines that read counters, taking turns: around launches, and in windows of time.
#pragma once

#include "counters/engine_turns.hpp"
#include "counters/launches/launch_sampler.hpp"
#include "counters/windows/pm_sampler.hpp"
#include "counters/windows/used_devices.hpp"

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace gpuprof {

struct counter_wishes {
  bool around_launches = true;
  bool in_windows = true;
  sampler_wishes launches;
  sampling_wishes sampling;
  double budget_percent = 1;  // of the running time, for both; 0: no limit
};

/// What the counters gave.
struct counter_harvest {
  std::vector<metric_record> metrics;
  std::vector<launch_counters> launches;
  sampling_harvest sampling;
};

/// One per process, never destroyed.
class counter_engines {
 public:
  counter_engines(cupti_api const& api, cuda_driver const& driver, counter_wishes wishes);

  // Launching threads, inside CUPTI's callbacks; see launch_sampler.
  void entered(launch_call_kind kind, CUpti_CallbackData const& call) noexcept {
    if (wishes_.in_windows) devices_.note(call.context);
    launches_.entered(kind, call);
  }
  launch_remark left(CUpti_CallbackData const& call, bool gets_record) noexcept {
    return launches_.left(call, gets_record);
  }
  void capture_begins() noexcept { launches_.capture_begins(); }
  void capture_ends() noexcept { launches_.capture_ends(); }
  void graph_changes() noexcept { launches_.graph_changes(); }
  void code_unloads() noexcept { launches_.code_unloads(); }
  void context_ending() noexcept { launches_.context_ending(); }
  void context_ended() noexcept { launches_.context_ended(); }
  /// GPUs are set up for sampling: not while one of their contexts is destroyed.
  bool holds_gpus() const noexcept { return holds_gpus_.load(); }
  void let_go_of_gpus() noexcept { let_go_.store(true, std::memory_order_release); }

  // Whoever switches captures.
  void resume() noexcept;
  void pause() noexcept;
  bool is_on() const noexcept { return on_.load(std::memory_order_acquire); }
  /// Nothing is counted any more since the last capture ended.
  bool at_rest() const noexcept { return at_rest_.load(std::memory_order_acquire); }
  /// Callbacks were off until now: what was heard to begin may have ended.
  void callbacks_begin() noexcept { launches_.callbacks_begin(); }
  /// CUPTI is not to be called any more, from any thread: it has shut itself down, or the process
  /// ends without waiting for us.
  void abandon() noexcept;

  // The worker's thread ------------------------------------------------------

  /// How long until the next turn is of use.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  /// `closing`: nothing is to be left in the counters.
  std::uint64_t turn(bool closing, counter_harvest& to, device_counters::intern const& names);
  /// Gives the counters back, as before cuptiFinalize; what was counted comes with the next turn.
  void give_back(counter_harvest& to) noexcept;
  /// Lines for the log, none of them twice in a process. Unless `all`, those that are new are held
  /// back until the next call: when CUPTI shuts itself down, calls may fail before it says so.
  std::vector<std::string> take_complaints(bool all);

  sampler_counts const& launch_counts() const noexcept { return launches_.counts(); }
  launch_signatures::tally launch_kinds() const noexcept {
    return wishes_.launches.every_launch ? launch_signatures::tally{} : launches_.kinds();
  }
  sampling_counts const& window_counts() const noexcept { return sampler_.counts(); }
  sampling_budget const& budget() const noexcept { return budget_; }

 private:
  counter_needs needs() noexcept;
  void begin_window(counter_harvest& to, device_counters::intern const& names);
  void end_window(counter_harvest& to);
  void park(turn_kind how, counter_harvest& to, device_counters::intern const& names);
  std::uint64_t come_to_rest(counter_harvest& to, device_counters::intern const& names);
  void give_gpus_back(counter_harvest& to);
  void charge_sampling() noexcept;
  void let_go_of_sampling(counter_harvest& to);

  counter_wishes const wishes_;
  sampling_budget budget_;
  std::uint32_t next_metric_ = 1;  // the worker's thread alone
  std::atomic<bool> halted_{false};
  used_devices devices_;
  launch_sampler launches_;
  pm_sampler sampler_;
  std::atomic<bool> on_{false}, at_rest_{true}, holds_gpus_{false}, let_go_{false};

  // The worker's thread alone.
  engine_turns turns_;
  bool in_window_ = false;
  std::uint64_t charged_until_ = 0;      // sampling that is held; monotonic
  std::uint32_t launches_before_ = 0;    // at the last look
  std::uint64_t rest_wanted_since_ = 0;  // monotonic; 0: it is not
  std::set<std::string> said_;
  std::vector<std::string> held_back_;
};

}  // namespace gpuprof
