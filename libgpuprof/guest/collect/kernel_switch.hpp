// SPDX-License-Identifier: Apache-2.0
// Whether CUPTI records kernels at this moment.
#pragma once

#include "base/result.hpp"
#include "guest/collect/switch_guard.hpp"
#include "guest/cupti/guard.hpp"

#include <atomic>
#include <cstdint>

namespace gpuprof::guest {

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
