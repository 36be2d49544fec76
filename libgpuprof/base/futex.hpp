// SPDX-License-Identifier: Apache-2.0
// Sleeps until another thread changes a word. Suitable for threads of the program, because it is
// not a cancellation point, unlike the waits of libc.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof {

/// Returns when `word` is no longer `value`, after `max_ns`, or spuriously.
void futex_wait(std::atomic<std::uint32_t> const& word, std::uint32_t value,
                std::uint64_t max_ns) noexcept;
/// Call it after a change. The word may already be gone: a thread that is woken by mistake checks
/// its own word again.
void futex_wake(std::atomic<std::uint32_t> const& word) noexcept;

}  // namespace gpuprof
