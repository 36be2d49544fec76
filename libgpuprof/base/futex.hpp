// SPDX-License-Identifier: Apache-2.0
// Sleeps until another thread changes a word. For threads of the program: no point at which they
// can be canceled, as the waits of libc are.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof {

/// Returns when `word` is no longer `value`, after `max_ns`, or for no reason.
void futex_wait(std::atomic<std::uint32_t> const& word, std::uint32_t value,
                std::uint64_t max_ns) noexcept;
/// After a change. The word may be gone by then: nobody is woken by mistake that does not look
/// again.
void futex_wake(std::atomic<std::uint32_t> const& word) noexcept;

}  // namespace gpuprof
