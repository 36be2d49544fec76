// SPDX-License-Identifier: Apache-2.0
// Gives the native stack of a call a number, on the thread that makes the call: machine code below
// the Python stack, if there is one. Only addresses are kept; the command finds their functions.
//
// With libunwind a walk through 40 frames takes 0.8 us, and a thread has 1,000 a second; with the
// unwinder of libgcc 8 us, and 20 a second. A call beyond that has its Python stack alone.
#pragma once

#include "guest/nvtx/thread_log.hpp"
#include "guest/stacks/python_stack.hpp"

#include <atomic>
#include <cstdint>

namespace gpuprof::guest {

/// What a call does. A set of these is the sum of their bits.
enum class call_kind : std::uint8_t {
  none = 0,
  kernel = 1,
  copy = 2,
  allocation = 4,  // or release
  wait = 8,
  other = 16,
  long_wait = 32  // any call that has blocked its thread for longer than long_wait_ns
};
inline constexpr std::uint64_t long_wait_ns = 2'000'000;

/// From now on calls of these kinds get native stacks, while they take no more than `share` of
/// their thread's time. `python`: whose stacks are read; null: none.
void read_native_stacks(std::uint8_t kinds, double share, python_runtime const* python) noexcept;

/// Loads libunwind if native stacks are wanted and this was not tried before. Waits for a thread
/// that loads libraries, so threads of the program must not call it.
void load_unwinder() noexcept;
/// True if load_unwinder() has something to do.
bool unwinder_is_wanted() noexcept;
/// How fast read_ticks() runs, for the limits in time.
void native_stacks_have_ticks(std::uint64_t a_second) noexcept;

namespace detail {
extern std::atomic<std::uint8_t> native_kinds;
std::uint16_t number_native_stack(thread_log& log, correlation_id of_call) noexcept;
bool is_long_wait(std::uint64_t ticks) noexcept;
}  // namespace detail

/// False: stack_number() returns 0.
inline bool stacks_are_read() noexcept {
  return detail::python_read.load(std::memory_order_relaxed) != nullptr ||
         detail::native_kinds.load(std::memory_order_relaxed) != 0;
}

/// As python_stack_number(), with the native stack where it is wanted. `blocked_ticks`: for how
/// long the call has blocked its thread, if it is known.
inline std::uint16_t stack_number(thread_log& log, call_kind is, correlation_id of_call,
                                  std::uint64_t blocked_ticks = 0) noexcept {
  auto const wanted = detail::native_kinds.load(std::memory_order_relaxed);
  if (wanted != 0) [[unlikely]] {
    auto const is_long = (wanted & static_cast<unsigned>(call_kind::long_wait)) != 0 &&
                         blocked_ticks != 0 && detail::is_long_wait(blocked_ticks);
    if (is_long || (wanted & static_cast<unsigned>(is)) != 0)
      return detail::number_native_stack(log, of_call);
  }
  return python_stack_number(log);
}

}  // namespace gpuprof::guest
