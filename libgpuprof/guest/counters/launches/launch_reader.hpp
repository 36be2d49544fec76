// SPDX-License-Identifier: Apache-2.0
// Reads counters around chosen launches of the program, without replay, within a budget.
#pragma once

#include "guest/counters/launches/launch_passage.hpp"
#include "guest/counters/launches/reading_decision.hpp"
#include "guest/counters/launches/reading_state.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::guest {

enum class turn_kind {
  usual,
  closing,  // take everything out of the counters
};

/// One per process, never destroyed. Threads of the program only pass its gate; all of CUPTI's
/// calls are made by the worker's thread, in rounds: it shuts the gate, and once the GPU is idle it
/// lets the calls of the program pass one at a time, some of them with counters around. All that is
/// declared here runs on the worker's thread, unless it says otherwise.
class launch_reader {
 public:
  /// `budget`, `next_metric`, the id of the next metric, and `halted` live as long as it. Once
  /// `halted` is set CUPTI is not called any more.
  launch_reader(cupti_api const& api, cuda_driver const& driver, reading_options options,
                sampling_budget& budget, std::uint32_t& next_metric,
                std::atomic<bool> const& halted);

  /// All that the program's threads do. Any thread.
  launch_passage& passage() noexcept { return passage_; }

  /// Prepares new contexts, reads, evaluates what was counted. Adds to both lists.
  void turn(turn_kind how, std::vector<metric_record>& metrics,
            std::vector<counter_reading>& launches, device_counters::intern const& names) {
    release_for_endings();
    state_.at_work.store(true);
    work(how, metrics, launches, names);
    state_.at_work.store(false);
    release_for_endings();
  }
  /// Releases the counters of all contexts if a call of the program destroys a context.
  void release_for_endings() noexcept {
    if (state_.to_be_released.load() != 0) end_contexts();
  }
  /// Removes unused signatures to make room for new ones; warns once if there is no room.
  void make_room() { decision_.make_room(state_.options.every_launch || !is_in_midst()); }
  /// True if some launches have passes to run.
  bool wants_turn() noexcept;
  /// A sampling window begins, or has ended.
  void window_begins() noexcept { reading_targets::window_begins(state_.signatures.all()); }
  void window_ends() noexcept { reading_targets::window_ends(state_.signatures.all()); }
  /// True if the signatures with most of the recent GPU time were sampled often.
  bool is_sampled_enough() const noexcept {
    return decision_.outlook().sampled_share >= enough_sampled;
  }
  /// A cycle is on, whose readings would be lost.
  bool is_in_midst() const noexcept {
    return state_.any_context([](auto const& context) { return context.has_readings(); });
  }
  /// True if the current setup has several passes: stopping it means a new setup, which takes 0.2
  /// s.
  bool is_costly_to_stop() const noexcept {
    return state_.any_context([](auto const& context) { return context.has_passes_left(); });
  }
  /// True if nothing is being counted.
  bool is_parked() const noexcept {
    return !state_.any_context([](auto const& context) { return context.is_counting(); });
  }
  /// Releases the counters as soon as the GPU is idle. Returns false if it did not become idle.
  bool release(std::uint64_t patience_ns) noexcept;
  bool holds_counters() const noexcept { return state_.holds_counters(); }
  /// Stops sharing with other ranks until more has been read.
  void end_sharing() noexcept { decision_.end_sharing(); }
  bool must_not_switch() const noexcept { return state_.must_not_switch(); }
  bool has_given_up() const noexcept { return state_.given_up.load(); }
  /// Number of launches that this process was seen to make.
  std::uint64_t launches() const noexcept {
    return state_.launches.load(std::memory_order_relaxed);
  }
  /// See reading_state::time_of_kernels().
  std::uint64_t kernel_ns() const noexcept { return state_.time_of_kernels(); }
  std::uint64_t held_ns() noexcept { return state_.gate.held_ns(); }
  std::vector<hold_record> take_holds() { return state_.gate.take_holds(); }
  /// Lines for the log since the last call.
  std::vector<std::string> take_warnings() { return decision_.take_warnings(); }

  reading_counts const& counts() const noexcept { return state_.counts; }
  work_gate const& gate() const noexcept { return state_.gate; }
  /// Counts the signatures that have been read in full. Not for every_launch, which does not use
  /// signatures.
  launch_signatures::tally signatures() const noexcept {
    // Before anything is prepared, all groups are missing.
    auto const groups = state_.all_groups.load();
    return state_.signatures.all().count(groups != 0 ? groups : launch_signature::groups{1});
  }

 private:
  static constexpr double enough_sampled = 0.98;

  void work(turn_kind how, std::vector<metric_record>& metrics,
            std::vector<counter_reading>& launches, device_counters::intern const& names);
  void want_signatures_of(context_readings& context) noexcept;
  bool is_held_for_another(context_readings const& context) const noexcept;
  bool may_begin_round(context_readings& context) noexcept;
  void round(context_readings& context, std::vector<counter_reading>& launches);
  bool serve(context_readings& context);
  void take_what_was_read(context_readings& context);
  bool read(context_readings& context, work_gate::visitor const& launch, std::size_t range);
  bool found_busy(context_readings& context) noexcept;
  bool shut_when_idle(context_readings& context, std::uint64_t hope_for_ns,
                      std::uint64_t patience_ns);
  bool drain(context_readings& context) noexcept;
  bool prove_that_it_ends(context_readings& context, work_gate::visitor const& launch);
  bool read_held(context_readings& context, work_gate::visitor const& launch, std::size_t range,
                 bool rewrites, std::uint64_t impatient);
  bool advance(context_readings& context);
  bool checked(result<void> const& done);
  result<void> start(context_readings& context);
  void close(context_readings& context);
  void end_contexts() noexcept;

  launch_passage passage_;
  reading_state& state_;  // that of the passage
  reading_decision decision_;
  std::uint64_t not_before_ns_ = 0, put_off_ns_ = 0;
  std::uint64_t busy_in_round_ = 0;  // launches
  bool one_at_a_time_ = false;       // calls pass the gate one at a time
};

}  // namespace gpuprof::guest
