// SPDX-License-Identifier: Apache-2.0
// A ring of fixed-size slots between one writing thread and one reading thread. It grows as needed.
#pragma once

#include "base/memory_budget.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/mman.h>
#include <type_traits>
#include <utility>

namespace gpuprof {

/// Lock-free. It begins with slots of its creator, which must outlive it. If they are too few, it
/// continues in new slots, twice as many each time; the reader releases the old ones after reading
/// them. Zero bytes must be a valid slot. Sizes are powers of two.
template <class Slot>
class growing_ring {
 public:
  /// At most `limit` slots wait for the reader at any time. Added slots count against `budget`.
  growing_ring(std::span<Slot> first, std::size_t limit, memory_budget& budget) noexcept
      : budget_(budget),
        slots_(first.data()),
        mask_(first.size() - 1),
        limit_(std::max(limit, first.size())) {
    areas_[0] = {0, slots_, mask_};
  }

  /// Writer only. True if the next `count` slots are free: fill them with slot(i), then call
  /// publish(count). If false, try grow().
  bool reserve(std::size_t count) noexcept {
    auto const head = head_.load(std::memory_order_relaxed);  // only the writer changes it
    if (fits(head, count)) return true;
    known_tail_ = tail_.load(std::memory_order_acquire);
    return fits(head, count);
  }
  /// Larger rings grow only within a quarter of the budget, so that they leave memory for the
  /// others. The reader is woken when half of this many slots wait.
  static constexpr std::size_t modest_slots = 1 << 15;

  /// Writer only, after grow() returned false: true if it would have grown with a larger budget.
  bool lacks_memory() const noexcept { return lacks_memory_; }

  /// Writer only, after reserve() returned false: makes room for `count` slots. Returns false if
  /// too many slots wait or the budget is used up; then the caller drops the entry and counts it.
  bool grow(std::size_t count) noexcept {
    auto const head = head_.load(std::memory_order_relaxed);
    auto const made = areas_made_.load(std::memory_order_relaxed);
    auto const slots = std::max(2 * (mask_ + 1), std::bit_ceil(count));
    lacks_memory_ = false;
    if (made == areas_.size() || slots > limit_ || head + count - known_tail_ > limit_)
      return false;
    auto const is_luxury = slots > modest_slots;
    lacks_memory_ = is_luxury && budget_.used() + bytes_of(slots) > budget_.limit() / 4;
    auto* const memory = lacks_memory_ ? nullptr : map(slots);
    lacks_memory_ = memory == nullptr;
    if (memory == nullptr) return false;
    slots_ = memory;
    mask_ = slots - 1;
    begins_ = head;
    areas_[made] = {head, memory, slots - 1};
    areas_made_.store(made + 1, std::memory_order_release);
    return true;
  }
  Slot& slot(std::size_t offset) noexcept {
    return slots_[(head_.load(std::memory_order_relaxed) + offset) & mask_];
  }
  void publish(std::size_t count) noexcept {
    head_.store(head_.load(std::memory_order_relaxed) + count, std::memory_order_release);
  }
  /// Writer only: true if more than half of the permitted slots wait for the reader, or half of
  /// modest_slots.
  bool half_full() noexcept {
    auto const half = std::min(limit_, modest_slots) / 2;
    auto const head = head_.load(std::memory_order_relaxed);
    if (head - known_tail_ <= half) return false;
    known_tail_ = tail_.load(std::memory_order_acquire);  // the known value may be old
    return head - known_tail_ > half;
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
      follow(tail);
      reading_ = tail;
      auto const& from = areas_[area_];
      tail += take(from.slots[tail & from.mask]);
      tail_.store(tail, std::memory_order_release);
    }
    return head - first;
  }
  /// Reader only, inside `take`: the slot `offset` places after the current one.
  Slot const& next(std::size_t offset) const noexcept {
    auto const& from = areas_[area_];
    return from.slots[(reading_ + offset) & from.mask];
  }

  /// Releases all added slots. The caller must be the only writer and reader, and the ring must be
  /// drained.
  void shrink() noexcept {
    follow(head_.load(std::memory_order_relaxed));
    if (area_ != 0) unmap(areas_[area_]);
    begins_ = head_.load(std::memory_order_relaxed);
    areas_[0].begins = begins_;
    slots_ = areas_[0].slots;
    mask_ = areas_[0].mask;
    area_ = 0;
    areas_made_.store(1, std::memory_order_release);
  }

 private:
  static_assert(std::is_trivially_destructible_v<Slot>);
  struct area {
    std::uint64_t begins = 0;  // the first position in it
    Slot* slots = nullptr;
    std::size_t mask = 0;
  };

  bool fits(std::uint64_t head, std::size_t count) const noexcept {
    return head + count - std::max(known_tail_, begins_) <= mask_ + 1 &&
           head + count - known_tail_ <= limit_;
  }
  static std::size_t bytes_of(std::size_t slots) noexcept { return slots * sizeof(Slot); }
  Slot* map(std::size_t slots) noexcept {
    auto const bytes = bytes_of(slots);
    if (!budget_.reserve(bytes)) return nullptr;
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) return static_cast<Slot*>(memory);
    budget_.release(bytes);
    return nullptr;
  }
  void unmap(area const& old) noexcept {
    munmap(old.slots, bytes_of(old.mask + 1));
    budget_.release(bytes_of(old.mask + 1));
  }
  /// Reader: moves on to the area that contains this position. An area is published before the head
  /// that lies in it.
  void follow(std::uint64_t position) noexcept {
    while (area_ + 1 < areas_made_.load(std::memory_order_acquire) &&
           areas_[area_ + 1].begins <= position) {
      if (area_ != 0) unmap(areas_[area_]);
      ++area_;
    }
  }

  memory_budget& budget_;
  // Used by the writer only.
  Slot* slots_;
  std::size_t mask_;
  std::size_t const limit_;
  std::uint64_t begins_ = 0;      // the first position in these slots
  std::uint64_t known_tail_ = 0;  // last value of tail_ that the writer has read
  bool lacks_memory_ = false;
  // The writer adds areas, the reader follows. Areas behind the reader are released.
  alignas(64) std::array<area, 16> areas_{};
  std::atomic<std::size_t> areas_made_{1};
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t reading_ = 0;
  std::size_t area_ = 0;  // used by the reader
};

}  // namespace gpuprof
