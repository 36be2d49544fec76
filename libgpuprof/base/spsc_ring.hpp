// A ring of fixed-size slots between one writing thread and one reading thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpuprof {

/// Lock-free. The slots belong to the creator and must outlive the ring; their number is a power of
/// two.
template <class Slot>
class spsc_ring {
 public:
  explicit spsc_ring(std::span<Slot> slots) noexcept
      : slots_(slots.data()), mask_(slots.size() - 1) {}

  /// Writer only. The next `count` slots are free; fill them with slot(i), then publish(count).
  /// False when full: the caller drops and counts.
  bool reserve(std::size_t count) noexcept {
    auto const head = head_.load(std::memory_order_relaxed);  // only this thread writes it
    if (head + count - known_tail_ <= mask_ + 1) return true;
    known_tail_ = tail_.load(std::memory_order_acquire);
    return head + count - known_tail_ <= mask_ + 1;
  }
  Slot& slot(std::size_t offset) noexcept {
    return slots_[(head_.load(std::memory_order_relaxed) + offset) & mask_];
  }
  void publish(std::size_t count) noexcept {
    head_.store(head_.load(std::memory_order_relaxed) + count, std::memory_order_release);
  }
  /// Writer only: true while at least half of the slots wait for the reader.
  bool half_full() noexcept {
    auto const head = head_.load(std::memory_order_relaxed);
    if (head - known_tail_ <= (mask_ + 1) / 2) return false;
    known_tail_ = tail_.load(std::memory_order_acquire);  // the last look may be old
    return head - known_tail_ > (mask_ + 1) / 2;
  }
  /// Any thread: true when the reader has taken everything published so far.
  bool drained() const noexcept {
    return tail_.load(std::memory_order_acquire) == head_.load(std::memory_order_acquire);
  }

  /// Reader only. Calls take(slot) for everything published before this call; `take` returns how
  /// many slots the entry occupied and may look at the following ones through next(i).
  template <class Take>
  std::size_t drain(Take&& take) noexcept(noexcept(take(std::declval<Slot const&>()))) {
    auto const head = head_.load(std::memory_order_acquire);
    auto tail = tail_.load(std::memory_order_relaxed);
    auto const first = tail;
    while (tail != head) {
      reading_ = tail;
      tail += take(slots_[tail & mask_]);
      tail_.store(tail, std::memory_order_release);
    }
    return head - first;
  }
  /// Reader only, inside `take`: the slot `offset` places after the current one.
  Slot const& next(std::size_t offset) const noexcept {
    return slots_[(reading_ + offset) & mask_];
  }

 private:
  Slot* slots_;
  std::size_t mask_;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t known_tail_ = 0;  // the writer's last look at tail_
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t reading_ = 0;
};

}  // namespace gpuprof
