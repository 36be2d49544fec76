// SPDX-License-Identifier: Apache-2.0
// Switches the records of kernels on and off, and keeps CUPTI's switches apart from calls that take
// code away.
#pragma once

#include "base/result.hpp"
#include "guest/cupti/guard.hpp"

#include <atomic>
#include <cstdint>

namespace gpuprof::guest {

/// CUPTI 13.0.1 sometimes crashes in cuptiActivityDisable while another thread unloads a library (2
/// of about 80 runs on an H200). So a thread that unloads code or ends a context waits, at most one
/// second, until no thread is switching; and a thread that wants to switch does it later. Any
/// thread, without lock.
class switch_guard {
 public:
  /// Call these before and after a call of the program that unloads code or ends a context.
  void change_begins() noexcept;
  void change_ended() noexcept;
  /// Forbids switches from now on, because the process and the driver are shutting down.
  void close() noexcept {
    closed_.store(true);
    change_begins();
  }
  /// Callbacks were off for a while: changes may have ended unseen.
  void forget_changes() noexcept { changes_.store(0); }

  /// Returns false while a change is running: try again later. Otherwise leave() must follow on
  /// this thread.
  bool enter() noexcept;
  void leave() noexcept;
  /// The same, but waits for up to 20 ms.
  bool enter_soon() noexcept;
  /// For a switch that cannot be put off: waits for up to 20 ms, then enters in any case.
  void enter_at_last() noexcept;

 private:
  std::atomic<std::uint32_t> changes_{0}, inside_{0};
  std::atomic<bool> closed_{false};
};

// Controls whether CUPTI records kernels at this moment.

/// Captures need kernel records. But a launch whose kernel CUPTI rewrites to count instructions
/// must have none, because all these counters read 0 while kernels are recorded (seen on an H200,
/// CUPTI 13.0). Switching takes 1 to 3 us. Any thread, without lock: if another thread is inside
/// CUPTI, that thread makes the change.
class kernel_switch {
 public:
  /// `can_stop`: if false, records stay on once they are on, and pause() fails.
  kernel_switch(cupti_api const& api, switch_guard& switches, bool can_stop = true) noexcept
      : guard_(api), switches_(switches), can_stop_(can_stop) {}

  /// Called by the thread that starts and stops captures, which holds the switch_guard.
  result<void> want(bool records);
  /// Stops the records of kernels that are launched in this process from now on, until resume().
  /// Returns false, and resume() must not be called, if another thread is switching or unloading
  /// code, or records cannot be stopped.
  bool pause() noexcept;
  void resume() noexcept;
  /// CUPTI has shut itself down: it is not called any more.
  void abandon() noexcept { abandoned_.store(true); }

 private:
  static constexpr std::uint32_t wanted = 1, one_pause = 2;
  static bool is_on(std::uint32_t state) noexcept { return state == wanted; }
  enum class outcome { settled, failed, left_to_another };
  template <class Switch>
  outcome settle(Switch&& in_cupti);
  outcome settle() noexcept;

  cupti_guard const guard_;
  switch_guard& switches_;
  bool const can_stop_;
  std::atomic<std::uint32_t> state_{0};  // `wanted`, plus one_pause for each pause
  std::atomic_flag switching_ = ATOMIC_FLAG_INIT;
  bool on_ = false;  // records are on in CUPTI; protected by switching_
  std::atomic<bool> abandoned_{false};
};

}  // namespace gpuprof::guest
