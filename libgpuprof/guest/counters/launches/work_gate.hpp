// SPDX-License-Identifier: Apache-2.0
// The gate through which all calls go that put work on the GPU: open, or kept by one thread of
// ours.
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

/// What a call is about to do.
struct gate_call {
  context_readings* context = nullptr;    // null: no matter of ours
  launch_signature* signature = nullptr;  // null: nothing that can be read
  CUstream stream = nullptr;
  bool is_wanted = false;  // the keeper waits for such a launch
};

/// CUPTI's calls that switch counters wait for what runs on the GPU and hold every launch
/// meanwhile. So they are made by one thread, the keeper, that has shut the gate, while no call is
/// inside and nothing runs. No call of the program waits here for longer than max_hold_ns, unless
/// the keeper has found the GPU idle and is inside CUPTI, which would hold it as well.
class work_gate {
 public:
  static constexpr std::uint64_t max_hold_ns = 2'000'000;
  /// Should CUPTI never come back.
  static constexpr std::uint64_t max_switch_ns = 5'000'000'000;

  // The program's threads ----------------------------------------------------

  /// Before the call. True: counters run around it, and leave_read() must follow instead of
  /// leave().
  bool enter(gate_call const& what) noexcept;
  void leave() noexcept;
  /// After a call that is read: waits until its kernel has been counted, max_hold_ns at most.
  void leave_read(correlation_id correlation, bool failed) noexcept;

  // The keeper ---------------------------------------------------------------

  /// Everybody waits.
  void shut() noexcept { mode_.store(shut_mode); }
  /// Whoever is wanted waits, others pass.
  void choose() noexcept;
  /// Everybody passes.
  void open() noexcept;
  /// True: no call is inside, and none gets in before relax(), admit() or open(), unless its
  /// patience ends: never while `switching`, else impatient() tells.
  bool hold() noexcept;
  void relax() noexcept;

  /// While it lives the keeper is inside CUPTI for long, with the gate held.
  class switching {
   public:
    /// With the mutex, as those who go on by themselves count themselves: whoever is not counted
    /// by now does not go on.
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
  /// Whoever has waited longest; waits for one, `max_ns` at most. It may pass by itself any time.
  std::optional<visitor> next(std::uint64_t max_ns) noexcept;
  /// Lets it pass, alone. False: it is not there any more.
  bool admit(std::uint64_t ticket, bool is_read) noexcept;

  struct departure {
    correlation_id correlation{};
    bool failed = false;
  };
  /// The end of the call that is read; nullopt after `max_ns`.
  std::optional<departure> wait_for_departure(std::uint64_t max_ns) noexcept;
  /// It has been counted. True: its thread was still waiting.
  bool release_read() noexcept;
  /// Calls that went on without being admitted, or before they were counted.
  std::uint64_t impatient() const noexcept { return impatient_.load(); }

  /// Callbacks were off until now: calls that were inside may have ended.
  void forget_calls() noexcept;
  /// How long calls have waited since the last time this was asked, all together.
  std::uint64_t take_waited_ns() noexcept { return waited_ns_.exchange(0); }
  /// For how long any call has waited, several at a time counted once.
  std::uint64_t held_ns() noexcept;
  /// The stretches of that since the last time this was asked, the longer ones.
  std::vector<hold_record> take_holds();
  /// The longest wait of one call; those while CUPTI switched apart.
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
  std::atomic<std::uint64_t> switched_ns_{0};  // when the keeper last came out of CUPTI; monotonic
  std::atomic<std::uint32_t> inside_{0};       // calls
  std::atomic<std::uint32_t> arrivals_{0};     // changes with each call that begins to wait
  std::atomic<std::uint64_t> impatient_{0}, waited_ns_{0}, longest_hold_ns_{0},
      longest_switch_ns_{0};

  std::mutex mutex_;  // protects the rest; held for moments, never while CUPTI is called
  std::deque<waiting*> outside_;  // on the stacks of those who wait
  std::uint64_t last_ticket_ = 0;
  // Between two turns of the worker, which take up to two seconds; each lasts 1 ms or longer. What
  // were more lengthens the last one.
  static constexpr std::size_t max_holds = 2048;
  std::array<hold_record, max_holds> holds_{};
  std::size_t hold_count_ = 0;
  std::optional<departure> departure_;
  std::atomic<std::uint32_t> departures_{0};  // changes with each
  std::atomic<std::uint32_t> counted_{0};     // changes when the keeper releases the call
  bool read_is_waiting_ = false;
  std::uint32_t waiting_ = 0;  // outside_ and the call that is read
  std::uint64_t held_since_ = 0, held_ns_ = 0;
};

}  // namespace gpuprof::guest
