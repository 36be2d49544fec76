// SPDX-License-Identifier: Apache-2.0
// Switches the records of kernels on and off, and keeps CUPTI's switches apart from calls that take
// code away.
#pragma once

#include "base/result.hpp"
#include "guest/cupti/guard.hpp"

#include <atomic>
#include <cstdint>

namespace gpuprof::guest {

/// CUPTI 13.0.1 crashes now and then in cuptiActivityDisable while another thread unloads a library
/// (2 of some 80 runs on an H200). So who takes code or a context away waits until nobody switches,
/// a second at most, and who would switch does it later. Any thread, without lock.
class switch_guard {
 public:
  /// Before a call of the program that takes code or a context away, and after it.
  void change_begins() noexcept;
  void change_ended() noexcept;
  /// From now on nobody switches: the process ends, and the driver with it.
  void close() noexcept {
    closed_.store(true);
    change_begins();
  }
  /// Calls were not heard of for a while.
  void forget_changes() noexcept { changes_.store(0); }

  /// False when it is not the moment: try again later. Else leave() must follow on this thread.
  bool enter() noexcept;
  void leave() noexcept;
  /// The same, but waits for 20 ms at most.
  bool enter_soon() noexcept;
  /// For what cannot be put off: waits as long, and switches in any case.
  void enter_at_last() noexcept;

 private:
  std::atomic<std::uint32_t> changes_{0}, inside_{0};
  std::atomic<bool> closed_{false};
};

// Whether CUPTI records kernels at this moment.

/// Captures want kernel records; a launch whose kernel CUPTI rewrites to count instructions must
/// have none, since all such counters read 0 while kernels are recorded (seen on an H200, CUPTI
/// 13.0). Switching takes 1 to 3 us. Any thread, without lock: whoever comes while another thread
/// is inside CUPTI leaves it a note.
class kernel_switch {
 public:
  /// `can_stop`: else records stay on once they are, and there is no pause.
  kernel_switch(cupti_api const& api, switch_guard& switches, bool can_stop = true) noexcept
      : guard_(api), switches_(switches), can_stop_(can_stop) {}

  /// By the one thread that starts and stops captures, inside of the switch_guard.
  result<void> want(bool records);
  /// Records of kernels that are launched from now on, in the whole process, are missing until
  /// resume(). False, and nothing to resume, when another thread is just switching or takes code
  /// away, or records cannot be stopped.
  bool pause() noexcept;
  void resume() noexcept;
  /// CUPTI has torn itself down: it is called no more.
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
  std::atomic<std::uint32_t> state_{0};  // wanted, and one_pause for each
  std::atomic_flag switching_ = ATOMIC_FLAG_INIT;
  bool on_ = false;  // in CUPTI; whoever has set switching_
  std::atomic<bool> abandoned_{false};
};

}  // namespace gpuprof::guest
