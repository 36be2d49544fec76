// SPDX-License-Identifier: Apache-2.0
// Keeps CUPTI's switches apart from calls that take code away.
#pragma once

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

}  // namespace gpuprof::guest
