// SPDX-License-Identifier: Apache-2.0
// A fixed-size queue any number of threads may use without a lock (Vyukov's bounded MPMC queue).
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>

namespace gpuprof {

template <class T>
class bounded_queue {
 public:
  /// Capacity is rounded up to a power of two.
  explicit bounded_queue(std::size_t capacity)
      : mask_(std::bit_ceil(capacity) - 1), cells_(new cell[mask_ + 1]) {
    for (std::size_t i = 0; i <= mask_; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
  }

  /// Returns false if the queue is full. Any thread.
  bool push(T value) noexcept {
    auto position = head_.load(std::memory_order_relaxed);
    for (;;) {
      auto& c = cells_[position & mask_];
      auto const turn = c.turn.load(std::memory_order_acquire);
      if (turn == position) {
        if (head_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
          c.value = std::move(value);
          c.turn.store(position + 1, std::memory_order_release);
          return true;
        }
      } else if (turn < position) {
        return false;
      } else {
        position = head_.load(std::memory_order_relaxed);
      }
    }
  }

  /// Returns nothing if the queue is empty. Any thread.
  std::optional<T> pop() noexcept {
    auto position = tail_.load(std::memory_order_relaxed);
    for (;;) {
      auto& c = cells_[position & mask_];
      auto const turn = c.turn.load(std::memory_order_acquire);
      if (turn == position + 1) {
        if (tail_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
          auto value = std::move(c.value);
          c.turn.store(position + mask_ + 1, std::memory_order_release);
          return value;
        }
      } else if (turn < position + 1) {
        return std::nullopt;
      } else {
        position = tail_.load(std::memory_order_relaxed);
      }
    }
  }

 private:
  struct cell {
    std::atomic<std::size_t> turn{0};
    T value{};
  };
  std::size_t mask_;
  std::unique_ptr<cell[]> cells_;
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

}  // namespace gpuprof
