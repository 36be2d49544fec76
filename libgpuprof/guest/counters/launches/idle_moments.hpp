// SPDX-License-Identifier: Apache-2.0
// Moments at which the gate is held and the GPU has nothing to do: finding one, and calling CUPTI
// in it.
#pragma once

#include "base/fork_guard.hpp"
#include "base/time.hpp"
#include "guest/counters/launches/context_streams.hpp"
#include "guest/counters/launches/work_gate.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace gpuprof::guest {

/// One per gate. Three ways lead to such a moment: it is there already; it comes by itself, where
/// the program has waited for the GPU; or calls are slowed down until the GPU has worked off what
/// was queued.
class idle_moments {
 public:
  /// All live as long as it. `is_interrupted`: there is something better to do than to hope; once
  /// `halted` is set nothing is waited for.
  idle_moments(work_gate& gate, stream_captures const& captures, std::atomic<bool> const& halted,
               std::function<bool()> is_interrupted)
      : gate_(gate),
        captures_(captures),
        halted_(halted),
        is_interrupted_(std::move(is_interrupted)) {}

  // Threads of the program -----------------------------------------------------

  /// The thread has waited for the GPU, or for a part of it. If the keeper hopes for that, it goes
  /// on as soon as the gate is shut, or after 1 ms. Returns for how long it was kept.
  std::uint64_t program_has_waited() noexcept;

  // The keeper of the gate -----------------------------------------------------

  /// Shuts the gate and calls when the GPU is idle: at once; after hoping for a moment that comes
  /// by itself; after slowing down the program. False: at none of these.
  template <class F>
  bool shut_when_idle(context_streams& streams, std::uint64_t hope_ns, std::uint64_t patience_ns,
                      F in_cupti) {
    gate_.shut();
    if (when_idle(streams, 0, in_cupti)) return true;
    if (hope_ns > 0 && !is_interrupted_()) {
      gate_.open();
      if (hope(hope_ns) && when_idle(streams, after_wait_ns, in_cupti)) return true;
    }
    return patience_ns > 0 && when_idle(streams, patience_ns, in_cupti);
  }

  /// True: the gate is held, and the GPU has nothing to do in the context.
  bool reach(context_streams& streams, std::uint64_t patience_ns) noexcept;
  /// The same, but false once a call has gone on by itself.
  bool reach_before_impatience(context_streams& streams) noexcept;

  /// After either, for calls that wait for all work. False, and nothing is called: this thread was
  /// kept from going on for so long that a call of the program has gone on by itself since the GPU
  /// was found idle.
  template <class F>
  bool call(context_streams& streams, F in_cupti) {
    work_gate::switching const now(gate_);
    if (gate_.impatient() != impatient_at_idle_) return false;
    streams.forget_idle();
    in_cupti();
    return true;
  }

 private:
  // Other streams may be about to end, too.
  static constexpr std::uint64_t after_wait_ns = 500'000;

  template <class F>
  bool when_idle(context_streams& streams, std::uint64_t patience_ns, F in_cupti) {
    auto const deadline = monotonic_ns() + patience_ns;
    for (;;) {
      auto const moment = monotonic_ns();
      if (!reach(streams, deadline > moment ? deadline - moment : 0)) return false;
      fork_guard const guard;  // before that: a fork under way may take longer than calls wait
      if (call(streams, in_cupti)) return true;
      gate_.relax();
      if (monotonic_ns() >= deadline) return false;
    }
  }
  bool hope(std::uint64_t patience_ns) noexcept;
  bool is_idle_and_held(context_streams& streams) noexcept;

  work_gate& gate_;
  stream_captures const& captures_;
  std::atomic<bool> const& halted_;
  std::function<bool()> const is_interrupted_;
  // Waits of the program that have ended, and how often the gate was shut after one. Counters for
  // futexes.
  std::atomic<std::uint32_t> moments_{0}, answered_{0};
  std::atomic<bool> hopes_{false};       // the keeper waits for one
  std::uint64_t impatient_at_idle_ = 0;  // of the gate, before the GPU was last found idle; the
                                         // keeper's alone
};

}  // namespace gpuprof::guest
