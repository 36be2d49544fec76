// SPDX-License-Identifier: Apache-2.0
// The gate for all calls that put work on the GPU. It is open, or controlled by one thread of ours,
// the keeper.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"
#include "model/records.hpp"

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace gpuprof::guest {

class context_readings;
class launch_signature;

/// Describes what a call is about to do.
struct gate_call {
  context_readings* context = nullptr;    // null: not of interest
  launch_signature* signature = nullptr;  // null: cannot be read
  CUstream stream = nullptr;
  bool is_wanted = false;  // the keeper waits for this signature
};

/// CUPTI's calls that switch counters wait for all work on the GPU and block all launches
/// meanwhile. So one thread, the keeper, makes them: it shuts the gate, and calls CUPTI when no
/// call is inside and the GPU is idle. No call of the program waits here for longer than
/// max_hold_ns, unless the keeper has found the GPU idle and is inside CUPTI, which would block the
/// call too.
class work_gate {
 public:
  static constexpr std::uint64_t max_hold_ns = 2'000'000;
  /// The limit in case CUPTI never returns.
  static constexpr std::uint64_t max_switch_ns = 5'000'000'000;

  // Called by the program's threads -------------------------------------------

  /// Call it before the call. Returns true if counters run around it: leave_read() must follow
  /// instead of leave().
  bool enter(gate_call const& what) noexcept;
  void leave() noexcept;
  /// Call it after a call that is read: waits until its kernel has been counted, for max_hold_ns at
  /// most.
  void leave_read(correlation_id correlation, bool failed) noexcept;

  // Called by the keeper -----------------------------------------------------

  /// All calls wait.
  void shut() noexcept { mode_.store(shut_mode); }
  /// Wanted calls wait, others pass.
  void choose() noexcept;
  /// All calls pass.
  void open() noexcept;
  /// Returns true if no call is inside. Then none gets in before relax(), admit() or open(), unless
  /// one has waited for too long: that never happens during `switching`, and impatient() counts it.
  bool hold() noexcept;
  void relax() noexcept;

  /// While it lives, the keeper is in a long call of CUPTI, with the gate held.
  class switching {
   public:
    /// Locks the mutex, because a call that has waited for too long also holds it while it counts
    /// itself and passes. A call that has not counted itself before this keeps waiting.
    explicit switching(work_gate& gate) noexcept : gate_(gate) {
      std::lock_guard const lock(gate_.mutex_);
      gate_.is_switching_.store(true);
    }
    ~switching() {
      gate_.switched_ns_.store(monotonic_ns());
      gate_.is_switching_.store(false);
    }
    switching(switching const&) = delete;
    switching& operator=(switching const&) = delete;

   private:
    work_gate& gate_;
  };

  struct visitor {
    std::uint64_t ticket = 0;
    gate_call call;
  };
  /// Returns the call that has waited longest; waits for one, `max_ns` at most. The call may go on
  /// by itself at any time.
  std::optional<visitor> next(std::uint64_t max_ns) noexcept;
  /// Lets only this call pass. Returns false if it has already gone on.
  bool admit(std::uint64_t ticket, bool is_read) noexcept;

  struct departure {
    correlation_id correlation{};
    bool failed = false;
  };
  /// Returns the end of the call that is read, or nullopt after `max_ns`.
  std::optional<departure> wait_for_departure(std::uint64_t max_ns) noexcept;
  /// The call has been counted. Returns true if its thread was still waiting.
  bool release_read() noexcept;
  /// Number of calls that went on before they were admitted or counted.
  std::uint64_t impatient() const noexcept { return impatient_.load(); }

  /// Callbacks were off until now: calls that were inside may have ended.
  void forget_calls() noexcept;
  /// Sum of the time that all calls have waited since the last query.
  std::uint64_t take_waited_ns() noexcept { return waited_ns_.exchange(0); }
  /// Time in which at least one call has waited.
  std::uint64_t held_ns() noexcept;
  /// The longer intervals of held time since the last query.
  std::vector<hold_record> take_holds();
  /// The longest wait of one call. Waits while CUPTI was switching are in longest_switch_ns().
  std::uint64_t longest_hold_ns() const noexcept { return longest_hold_ns_.load(); }
  std::uint64_t longest_switch_ns() const noexcept { return longest_switch_ns_.load(); }

 private:
  enum mode : std::uint32_t { open_mode, choosing_mode, shut_mode, held_mode };
  static bool passes(std::uint32_t mode, gate_call const& what) noexcept {
    return mode == open_mode || (mode == choosing_mode && !what.is_wanted);
  }
  struct waiting {
    std::uint64_t ticket;
    gate_call call;
    std::atomic<std::uint32_t> admitted{0};
    bool is_read = false;
  };
  bool wait_outside(gate_call const& what) noexcept;
  void note_wait(std::uint64_t since_ns, bool was_switched) noexcept;
  void let_in(waiting& one) noexcept;
  void one_waits() noexcept;
  void one_goes_on() noexcept;

  std::atomic<std::uint32_t> mode_{open_mode};
  std::atomic<bool> is_switching_{false};
  std::atomic<std::uint64_t> switched_ns_{0};  // the keeper's last return from CUPTI; monotonic
  std::atomic<std::uint32_t> inside_{0};       // calls
  std::atomic<std::uint32_t> arrivals_{0};     // changes with each call that begins to wait
  std::atomic<std::uint64_t> impatient_{0}, waited_ns_{0}, longest_hold_ns_{0},
      longest_switch_ns_{0};

  std::mutex mutex_;              // protects the rest; held briefly, never during CUPTI calls
  std::deque<waiting*> outside_;  // objects on the stacks of waiting threads
  std::uint64_t last_ticket_ = 0;
  // Holds of 1 ms or longer since the last turn of the worker, which may take two seconds. If there
  // are more, the last one is made longer.
  static constexpr std::size_t max_holds = 2048;
  std::array<hold_record, max_holds> holds_{};
  std::size_t hold_count_ = 0;
  std::optional<departure> departure_;
  std::atomic<std::uint32_t> departures_{0};  // counts departures
  std::atomic<std::uint32_t> counted_{0};     // counts calls that the keeper has released
  bool read_is_waiting_ = false;
  std::uint32_t waiting_ = 0;  // outside_ and the call that is read
  std::uint64_t held_since_ = 0, held_ns_ = 0;
};

}  // namespace gpuprof::guest
