// SPDX-License-Identifier: Apache-2.0
// Counts the host memory that the profiler holds and compares it with the user's limit.
#pragma once

#include <atomic>
#include <cstddef>

namespace gpuprof {

/// Any thread. Covers large blocks (record buffers, thread rings) and names. A request beyond the
/// limit is refused.
class memory_budget {
 public:
  explicit memory_budget(std::size_t limit) noexcept : limit_(limit) {}

  bool reserve(std::size_t bytes) noexcept {
    auto used = used_.load(std::memory_order_relaxed);
    do {
      if (used + bytes > limit_) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  /// For memory that is bounded elsewhere and cannot be refused. It may exceed the limit; then
  /// other requests are refused until there is room again.
  void take(std::size_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void release(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  std::size_t limit() const noexcept { return limit_; }

 private:
  std::atomic<std::size_t> used_{0};
  std::size_t const limit_;
};

}  // namespace gpuprof
