// SPDX-License-Identifier: Apache-2.0
// Reads counters around chosen launches of the program, without replay, within a budget.
#pragma once

#include "base/process.hpp"
#include "guest/counters/device_turn.hpp"
#include "guest/counters/gpu_pauses.hpp"
#include "guest/counters/launches/context_readings.hpp"
#include "guest/counters/launches/context_streams.hpp"
#include "guest/counters/launches/device_counters.hpp"
#include "guest/counters/launches/idle_moments.hpp"
#include "guest/counters/launches/reading_targets.hpp"
#include "guest/counters/launches/shared_readings.hpp"
#include "guest/counters/launches/signatures/launch_signatures.hpp"
#include "guest/counters/launches/signatures/signature_lookup.hpp"
#include "guest/counters/launches/work_gate.hpp"
#include "guest/counters/sampling_budget.hpp"
#include "guest/counters/used_devices.hpp"
#include "guest/cupti/launch_gate.hpp"
#include "guest/driver/cuda_driver.hpp"
#include "guest/metrics/availability_store.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::guest {

struct reading_options {
  bool every_launch = false;       // one pass around each launch, instead of each signature once
  std::vector<std::string> words;  // sets and metrics by name; empty: the set roofline
  /// Kernels (mangled) around which nothing is ever read: they wait for other launches.
  std::function<bool(char const*)> skips;
  /// Off and on again: while kernels are recorded, what CUPTI counts by rewriting them reads 0.
  /// False from the first: not now, and nothing is to be undone.
  std::function<bool()> pause_kernel_records;
  std::function<void()> resume_kernel_records;
  signature_lookup::code_lookup code_of;
  availability_store const* stored = nullptr;  // null: CUPTI is asked each time
  device_turns* turns = nullptr;               // null: other processes are not asked
  std::function<std::string(device_id)> uuid;
  /// The path of this process's capture, beside which ranks of a job tell each other what they have
  /// read. Empty: nothing is shared.
  std::function<std::string()> shared_beside;
  std::uint32_t ranks = 1;          // of the job
  used_devices* devices = nullptr;  // null: nobody asks on which GPUs the program launches
  main_thread_end* at_end = nullptr;
  gpu_pauses* pauses = nullptr;  // null: nobody asks when the GPU stood still
  /// On a thread of the program that destroys a context, once this reader has released it: releases
  /// what else is set up on its GPU.
  std::function<void()> release_gpus;
};

/// What was not read, and why. Launches, unless it says otherwise.
struct reading_counts {
  std::atomic<std::uint64_t> read{0};
  std::atomic<std::uint64_t> failed{0};         // CUPTI refused, or the launch failed
  std::atomic<std::uint64_t> disturbed{0};      // other work came in, or it did not end in 2 ms
  std::atomic<std::uint64_t> unrecorded{0};     // read without a kernel record of their own
  std::atomic<std::uint64_t> not_rewritten{0};  // CUPTI counted no instruction: nothing was read
  std::atomic<std::uint64_t> busy{0};           // the GPU was not idle in time
  std::atomic<std::uint64_t> abandoned{0};      // never came back from CUPTI
  std::atomic<std::uint64_t> cooperative{0};    // and others whose call cannot be read
  std::atomic<std::uint64_t> by_name{0};        // on the skip list
  std::atomic<std::uint64_t> graphs{0};         // may hold such kernels, or are changed as they are
  std::atomic<std::uint64_t> unknown{0};        // more signatures than the table holds
  std::atomic<std::uint64_t> not_idle{0};       // times at which no idle moment was found
};

enum class turn_kind {
  usual,
  closing,  // nothing is to be left in the counters
};

/// One per process, never destroyed. Threads of the program only pass its gate; all of CUPTI's
/// calls are made by the worker's thread, in rounds: it shuts the gate, and once the GPU is idle it
/// lets the calls of the program pass one at a time, some of them with counters around.
class launch_reader final : public launch_gate {
 public:
  /// `budget`, `next_metric`, the id of the next metric, and `halted` live as long as it. Once
  /// `halted` is set CUPTI is not called any more.
  launch_reader(cupti_api const& api, cuda_driver const& driver, reading_options options,
                sampling_budget& budget, std::uint32_t& next_metric,
                std::atomic<bool> const& halted);

  // Threads of the program, inside CUPTI's callbacks ---------------------------

  void entered(call_in_flight& own, launch_call_kind kind,
               CUpti_CallbackData const& call) noexcept override;
  launch_remark left(call_in_flight& own, CUpti_CallbackData const& call,
                     bool gets_record) noexcept override;
  void work_entered(call_in_flight& own, stream_place place,
                    CUpti_CallbackData const& call) noexcept override;
  void work_left(call_in_flight& own, CUpti_CallbackData const& call) noexcept override;
  void stream_capture_begins(CUstream stream) noexcept override;
  void stream_capture_ends(CUstream stream) noexcept override;
  void stream_ends(CUstream stream) noexcept override;
  /// What it has to do is known from now on: it was just made, or the program waited for it.
  void context_made(CUcontext context) noexcept override;
  void context_gone(CUcontext context) noexcept override;
  void context_waited_for(CUpti_CallbackData const& call) noexcept override;
  /// See idle_moments.
  void work_waited_for() noexcept override { budget_.spend(idle_moments_.program_has_waited()); }
  void graph_changes() noexcept override { graphs_change_.store(true); }
  void graph_ends(CUgraphExec graph) noexcept override { signatures_.forget_graph(graph); }
  void code_unloads() noexcept override { signatures_.forget_handles(); }
  void context_ending() noexcept override;
  void context_ended() noexcept override;

  // Whoever reads kernel records -----------------------------------------------
  void ran(correlation_id correlation, std::uint64_t ns, bool is_part) noexcept {
    if (options_.every_launch) {
      kernels_.fetch_add(1, std::memory_order_relaxed);
      kernel_ns_.fetch_add(ns, std::memory_order_relaxed);
    }
    times_.ran(raw(correlation), ns, is_part);
  }

  // Whoever switches captures ---------------------------------------------------
  void resume() noexcept;
  /// Callbacks were off until now: what was heard to begin may have ended.
  void callbacks_begin() noexcept;
  void pause() noexcept { on_.store(false); }

  // The worker's thread ----------------------------------------------------------

  /// Prepares new contexts, reads, evaluates what was counted. Adds to both lists.
  void turn(turn_kind how, std::vector<metric_record>& metrics,
            std::vector<counter_reading>& launches, device_counters::intern const& names) {
    release_for_endings();
    at_work_.store(true);
    work(how, metrics, launches, names);
    at_work_.store(false);
    release_for_endings();
  }
  /// Where a call of the program destroys a context: the counters of all are released.
  void release_for_endings() noexcept {
    if (to_be_released_.load() != 0) end_contexts();
  }
  /// What is not used any more makes room for what comes; says once what finds none.
  void make_room();
  /// Some launch has passes to run.
  bool wants_turn() noexcept;
  /// A window of sampling begins, or has ended.
  void window_begins() noexcept { reading_targets::window_begins(signatures_.all()); }
  void window_ends() noexcept { reading_targets::window_ends(signatures_.all()); }
  /// Signatures that make up most of the time of recent launches were sampled often.
  bool is_sampled_enough() const noexcept { return outlook_.sampled_share >= enough_sampled; }
  /// A cycle is on, whose readings would be lost. The worker's thread.
  bool is_in_midst() const noexcept;
  /// What is on has several passes: stopped, it is set up anew, which takes 0.2 s. As
  /// is_in_midst().
  bool is_costly_to_stop() const noexcept;
  /// Nothing is being counted.
  bool is_parked() const noexcept;
  /// Releases the counters, as soon as the GPU is idle. False: not now.
  bool release(std::uint64_t patience_ns) noexcept;
  bool holds_counters() const noexcept;
  /// Nothing is told to other ranks before more has been read.
  void end_sharing() noexcept {
    if (shared_) shared_->end();
  }
  bool must_not_switch() const noexcept { return captures_.any() || endings_.load() != 0; }
  bool has_given_up() const noexcept { return given_up_.load(); }
  /// Launches of the process that were heard of.
  std::uint64_t launches() const noexcept { return launches_.load(std::memory_order_relaxed); }
  /// Where every launch is read: of all kernels, all together; those whose records have not come
  /// yet as long as the others.
  std::uint64_t kernel_ns() const noexcept;
  std::uint64_t held_ns() noexcept { return gate_.held_ns(); }
  std::vector<hold_record> take_holds() { return gate_.take_holds(); }
  /// Lines for the log since the last call.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

  reading_counts const& counts() const noexcept { return counts_; }
  work_gate const& gate() const noexcept { return gate_; }
  /// How many signatures have been read in full. Not for every_launch, which has no signatures.
  launch_signatures::tally signatures() const noexcept {
    // Before anything was prepared all is missing.
    auto const groups = all_groups_.load();
    return signatures_.all().count(groups != 0 ? groups : launch_signature::groups{1});
  }

 private:
  static constexpr std::size_t max_contexts = 64;
  static constexpr double enough_sampled = 0.98;

  // Threads of the program.
  context_readings* context_of(CUcontext context, std::uint32_t number) noexcept;
  context_readings* in_place_of_another(CUcontext context, std::uint32_t number) noexcept;
  std::optional<device_id> device_of(CUcontext context) noexcept;
  void note_several_gpus() noexcept;
  bool may_be_read(launch_call_kind kind, launch_parameters const& launch, launch_signature& what,
                   CUpti_CallbackData const& call) noexcept;
  bool is_never_read(bool is_graph, bool is_cooperative) const noexcept;
  bool knows_several_gpus() const noexcept;
  template <class P>
  bool any_context(P holds) const noexcept {
    for (auto const& entry : contexts_) {
      auto const* const context = entry.load();
      if (context == nullptr) break;  // no more are known
      if (holds(*context)) return true;
    }
    return false;
  }
  void release_for_ending() noexcept;
  void pass(call_in_flight& own, gate_call const& what) noexcept;
  void leave(call_in_flight& own) noexcept;
  void note_stream(call_in_flight& own, bool failed) noexcept;
  launch_signature* by_values(call_in_flight const& own, CUpti_CallbackData const& call) noexcept;

  // The worker's thread.
  void work(turn_kind how, std::vector<metric_record>& metrics,
            std::vector<counter_reading>& launches, device_counters::intern const& names);
  bool prepare(context_readings& context, std::vector<metric_record>& metrics,
               device_counters::intern const& names);
  device_counters const* counters_of(context_readings& context, std::vector<metric_record>& metrics,
                                     device_counters::intern const& names);
  void look_for_targets() noexcept;
  void share_readings(std::uint64_t now_ns);
  std::vector<shared_reading> not_told_yet() const;
  void note_what_others_read(std::uint64_t now_ns);
  launch_signature::groups groups_now(std::uint64_t now_ns) const noexcept;
  launch_signature::groups useless_to(launch_signature const& signature) const noexcept;
  void want_signatures_of(context_readings& context) noexcept;
  bool is_held_for_another(context_readings const& context) const noexcept;
  bool may_begin_round(context_readings& context) noexcept;
  void round(context_readings& context, std::vector<counter_reading>& launches);
  bool is_interrupted() const noexcept;
  bool serve(context_readings& context);
  void take_what_was_read(context_readings& context);
  bool read(context_readings& context, work_gate::visitor const& launch, std::size_t range);
  bool found_busy(context_readings& context) noexcept;
  bool shut_when_idle(context_readings& context, std::uint64_t hope_for_ns,
                      std::uint64_t patience_ns);
  bool is_worth_it() const noexcept;
  bool drain(context_readings& context) noexcept;
  bool prove_that_it_ends(context_readings& context, work_gate::visitor const& launch);
  bool read_held(context_readings& context, work_gate::visitor const& launch, std::size_t range,
                 bool rewrites, std::uint64_t impatient);
  bool advance(context_readings& context);
  bool checked(result<void> const& done);
  result<void> start(context_readings& context);
  void close(context_readings& context);
  void end_contexts() noexcept;
  void evaluate_all(std::vector<counter_reading>& launches);
  void leave_out(launch_signature::groups rewriting);
  void give_up(std::string why);

  cupti_api const& api_;
  cuda_driver const driver_;
  reading_options const options_;
  sampling_budget& budget_;
  reading_counts counts_;
  std::atomic<bool> const& halted_;
  signature_lookup signatures_;
  launch_times times_;
  work_gate gate_;
  stream_captures captures_;
  idle_moments idle_moments_;
  std::atomic<bool> on_{false}, given_up_{false};
  std::atomic<bool> lacks_contexts_{false}, has_several_gpus_{false};
  std::atomic<bool> graphs_change_{false}, has_collectives_{false}, cooperative_failed_{false};
  std::atomic<std::uint32_t> capture_{0};     // number of it
  std::atomic<std::uint32_t> generation_{1};  // of callbacks that are on without a break
  std::atomic<std::uint64_t> launches_{0}, kernels_{0}, kernel_ns_{0};
  std::atomic<std::uint32_t> endings_{0};         // calls that destroy a context, under way
  std::atomic<std::uint32_t> to_be_released_{0};  // such a call waits for the worker
  // The worker may be inside CUPTI for a context. It says so before it looks whether one is about
  // to go, and who destroys one looks at this after saying so: one of them sees the other.
  std::atomic<bool> at_work_{false};
  std::atomic<launch_signature::groups> rewriting_{0}, all_groups_{0};
  std::array<std::atomic<context_readings*>, max_contexts> contexts_{};
  /// Of the launch that is let in to be read; the keeper writes before, its thread reads after.
  launch_remark remark_;

  // The worker's thread alone.
  std::map<device_id, device_counters> devices_;
  std::uint32_t& next_metric_;
  std::optional<shared_readings> shared_;
  reading_targets targets_;
  reading_targets::outlook outlook_;
  std::uint64_t looked_ns_ = 0, heard_ns_ = 0, wanted_since_ns_ = 0, not_before_ns_ = 0,
                put_off_ns_ = 0;
  std::uint64_t busy_in_round_ = 0;  // launches
  bool one_at_a_time_ = false;       // calls pass the gate
  bool some_were_rewritten_ = false;
  bool signatures_are_said_ = false, contexts_are_said_ = false;  // that there are too many
  launch_signature::groups left_out_ = 0;                         // that would rewrite kernels
  std::vector<std::pair<device_id, reading_batch>> batches_;
  std::vector<std::string> warnings_;
};

}  // namespace gpuprof::guest
