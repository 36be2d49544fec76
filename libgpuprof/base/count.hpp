// SPDX-License-Identifier: Apache-2.0
// Counters that several threads raise and reports read.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof {

/// Orders nothing else: reports read the sum alone.
inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t more = 1) noexcept {
  counter.fetch_add(more, std::memory_order_relaxed);
}

}  // namespace gpuprof
