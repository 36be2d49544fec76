// SPDX-License-Identifier: Apache-2.0
// Finds moments at which the gate is held and the GPU is idle, and calls CUPTI in them.
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

/// One per gate. Such a moment can come in three ways: the GPU is idle already; it becomes idle
/// because the program waits for it; or calls are slowed down until the GPU has finished its queue.
class idle_moments {
 public:
  /// All arguments must outlive this object. `is_interrupted`: stop hoping, other work is due. Once
  /// `halted` is set, no function waits.
  idle_moments(work_gate& gate, stream_captures const& captures, std::atomic<bool> const& halted,
               std::function<bool()> is_interrupted)
      : gate_(gate),
        captures_(captures),
        halted_(halted),
        is_interrupted_(std::move(is_interrupted)) {}

  // Called by threads of the program -------------------------------------------

  /// The thread has waited for the GPU or a part of its work. If the keeper hopes for that, this
  /// returns as soon as the gate is shut, or after 1 ms. Returns the time it was kept, in ns.
  std::uint64_t program_has_waited() noexcept;

  // Called by the keeper of the gate -------------------------------------------

  /// Shuts the gate and calls in_cupti when the GPU is idle. Tries in this order: at once; after
  /// hoping for an idle moment; after slowing down the program. Returns false if none of these
  /// worked.
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

  /// True: the gate is held, and the context has no work on the GPU.
  bool reach(context_streams& streams, std::uint64_t patience_ns) noexcept;
  /// The same, but false after a call has stopped waiting for the gate.
  bool reach_before_impatience(context_streams& streams) noexcept;

  /// Call it after either function, for calls of CUPTI that wait for all work. Returns false,
  /// without calling, if a call of the program has gone on by itself since the GPU was found idle,
  /// because this thread was delayed for too long.
  template <class F>
  bool call(context_streams& streams, F in_cupti) {
    work_gate::switching const now(gate_);
    if (gate_.impatient() != impatient_at_idle_) return false;
    streams.forget_idle();
    in_cupti();
    return true;
  }

 private:
  // Other streams may finish soon, too.
  static constexpr std::uint64_t after_wait_ns = 500'000;

  template <class F>
  bool when_idle(context_streams& streams, std::uint64_t patience_ns, F in_cupti) {
    auto const deadline = monotonic_ns() + patience_ns;
    for (;;) {
      auto const moment = monotonic_ns();
      if (!reach(streams, deadline > moment ? deadline - moment : 0)) return false;
      fork_guard const guard;  // first, because a running fork may take longer than calls may wait
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
  std::atomic<bool> hopes_{false};       // the keeper hopes for such a wait
  std::uint64_t impatient_at_idle_ = 0;  // gate_.impatient() before the last idle moment;
                                         // used by the keeper only
};

}  // namespace gpuprof::guest
