// SPDX-License-Identifier: Apache-2.0
// Tells the driver calls that the profiler makes from those of the program, for reports of calls.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <optional>

namespace gpuprof {

/// Every call of such a thread is the profiler's. It says so itself.
void note_own_thread(std::uint32_t os_thread) noexcept;
void forget_own_thread(std::uint32_t os_thread) noexcept;
bool is_own_thread(std::uint32_t os_thread) noexcept;

/// Of the calling thread: the profiler's own, or inside own_calls. Whatever is watched.
bool makes_own_calls() noexcept;

/// A stretch of a thread of the program in which the profiler makes calls.
struct own_calls_note {
  std::uint32_t os_thread = 0;
  timestamp_ns from, to;  // 0: not known yet, another note follows
};

/// Only while CUPTI records calls does anybody want to know afterwards. One thread; throws when
/// there is no memory for the notes.
void watch_own_calls(bool on);

/// Marks the calls that are made while it lives, on threads of the program. Any thread, without
/// lock; not nested. Where nobody takes the notes of some 2,000 stretches, the next is not marked.
class own_calls {
 public:
  own_calls() noexcept;
  ~own_calls();
  own_calls(own_calls const&) = delete;
  own_calls& operator=(own_calls const&) = delete;

 private:
  own_calls_note note_;
};

/// The oldest that has not been taken. What is taken before the records of calls are looked at says
/// of each of them whose it is.
std::optional<own_calls_note> take_own_calls() noexcept;

}  // namespace gpuprof
