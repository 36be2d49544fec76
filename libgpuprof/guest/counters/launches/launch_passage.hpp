// SPDX-License-Identifier: Apache-2.0
// Handles launches and other calls on the program's threads while counters are read around some of
// them.
#pragma once

#include "guest/counters/launches/reading_state.hpp"
#include "guest/cupti/launch_gate.hpp"

#include <atomic>
#include <cstdint>
#include <optional>

namespace gpuprof::guest {

/// Calls find out what they launch and pass the gate, which the worker may hold. None of them calls
/// CUPTI's counters.
class launch_passage final : public launch_gate {
 public:
  launch_passage(cupti_api const& api, cuda_driver const& driver, reading_options options,
                 sampling_budget& budget, std::atomic<bool> const& halted)
      : state_(api, driver, std::move(options), budget, halted) {}

  // Called by threads of the program, inside CUPTI's callbacks -----------------

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
  /// From now on all work of the context is known: it was just made, or the program waited for it.
  void context_made(CUcontext context) noexcept override;
  void context_gone(CUcontext context) noexcept override;
  void context_waited_for(CUpti_CallbackData const& call) noexcept override;
  /// See idle_moments.
  void work_waited_for() noexcept override {
    state_.budget.spend(state_.idle.program_has_waited());
  }
  void graph_changes() noexcept override { state_.graphs_change.store(true); }
  void graph_ends(CUgraphExec graph) noexcept override { state_.signatures.forget_graph(graph); }
  void code_unloads() noexcept override { state_.signatures.forget_handles(); }
  void context_ending() noexcept override;
  void context_ended() noexcept override;

  // Called by the reader of kernel records -------------------------------------
  void ran(correlation_id correlation, std::uint64_t ns, bool is_part) noexcept {
    if (state_.options.every_launch) {
      state_.kernels.fetch_add(1, std::memory_order_relaxed);
      state_.kernel_ns.fetch_add(ns, std::memory_order_relaxed);
    }
    state_.times.ran(raw(correlation), ns, is_part);
  }

  // Called by the thread that starts and stops captures -------------------------
  void resume() noexcept;
  /// Callbacks were off until now: calls that began before may have ended.
  void callbacks_begin() noexcept;
  void pause() noexcept { state_.on.store(false); }

  // Called by the worker's thread ------------------------------------------------
  reading_state& state() noexcept { return state_; }

 private:
  context_readings* context_of(CUcontext context, std::uint32_t number) noexcept;
  context_readings* in_place_of_another(CUcontext context, std::uint32_t number) noexcept;
  std::optional<device_id> device_of(CUcontext context) noexcept;
  void note_several_gpus() noexcept;
  bool may_be_read(launch_call_kind kind, launch_parameters const& launch, launch_signature& what,
                   CUpti_CallbackData const& call) noexcept;
  bool is_never_read(bool is_graph, bool is_cooperative) const noexcept;
  bool knows_several_gpus() const noexcept;
  void release_for_ending() noexcept;
  void pass(call_in_flight& own, gate_call const& what) noexcept;
  void leave(call_in_flight& own) noexcept;
  void note_stream(call_in_flight& own, bool failed) noexcept;
  launch_signature* by_values(call_in_flight const& own, CUpti_CallbackData const& call) noexcept;

  reading_state state_;  // a part of it: callbacks reach it without a further pointer
};

}  // namespace gpuprof::guest
