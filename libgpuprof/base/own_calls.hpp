// SPDX-License-Identifier: Apache-2.0
// Distinguishes driver calls of the profiler from those of the program, for reports on calls.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <optional>

namespace gpuprof {

/// All calls of this thread are the profiler's. The thread registers itself.
void note_own_thread(std::uint32_t os_thread) noexcept;
void forget_own_thread(std::uint32_t os_thread) noexcept;
bool is_own_thread(std::uint32_t os_thread) noexcept;

/// True if the calling thread is the profiler's own or inside own_calls, also while calls are not
/// watched.
bool makes_own_calls() noexcept;

/// A stretch of time in which the profiler makes calls on a thread of the program.
struct own_calls_note {
  std::uint32_t os_thread = 0;
  timestamp_ns from, to;  // `to` is 0 if not known yet; then another note follows
};

/// Notes are needed only while CUPTI records calls. Call it from one thread; throws if there is no
/// memory for the notes.
void watch_own_calls(bool on);

/// Marks the calls made while it lives on threads of the program. Any thread, without lock; must
/// not be nested. If the notes of some 2,000 stretches have not been taken, the next stretch is not
/// marked.
class own_calls {
 public:
  own_calls() noexcept;
  ~own_calls();
  own_calls(own_calls const&) = delete;
  own_calls& operator=(own_calls const&) = delete;

 private:
  own_calls_note note_;
};

/// Takes the oldest note. Take the notes before looking at call records; then it is known which of
/// these calls are the profiler's.
std::optional<own_calls_note> take_own_calls() noexcept;

}  // namespace gpuprof
