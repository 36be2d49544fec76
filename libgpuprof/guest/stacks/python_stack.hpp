// SPDX-License-Identifier: Apache-2.0
// Gives the Python stack of a launch a number, on the thread that launches.
//
// Frames are compared with those of the thread's last launch (last_stack.hpp). A stack that the
// thread has had before is found by a hash of its frames; a new one is written into the thread's
// ring, innermost frame first. docs/measurements/python.md says what that takes.
#pragma once

#include "guest/nvtx/thread_log.hpp"
#include "guest/stacks/python_runtime.hpp"

#include <atomic>
#include <cstdint>

namespace gpuprof::guest {

/// From now on stacks are read from this runtime; null: no stacks. A thread whose walks would take
/// more than `share` of its time, if that is less than 1, gives a stack to one launch in N, and to
/// the first of each place.
void read_python_stacks(python_runtime const* runtime, double share = 1) noexcept;

/// Returns the number, in the caller's log, of the Python stack of another thread, whose
/// PyThreadState is `state`. `process`: the child process that has it; 0: this process. 0: it has
/// none, it changed at each of three looks, or memory is out.
std::uint16_t python_stack_of_other(python_runtime const& python, thread_log& log,
                                    std::byte const* state, std::uint32_t process = 0) noexcept;

namespace detail {
extern std::atomic<python_runtime const*> python_read;
std::uint16_t number_python_stack(python_runtime const& python, thread_log& log,
                                  bool always) noexcept;
}  // namespace detail

/// Called by the owner thread of the log only, while it records. Returns the number of the
/// thread's Python stack, which the ring has described before; 0: it has none, or it is left out.
/// `always`: it is not left out.
inline std::uint16_t python_stack_number(thread_log& log, bool always = false) noexcept {
  auto const* const python = detail::python_read.load(std::memory_order_acquire);
  return python != nullptr ? detail::number_python_stack(*python, log, always) : std::uint16_t{0};
}

}  // namespace gpuprof::guest
