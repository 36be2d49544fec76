// SPDX-License-Identifier: Apache-2.0
// The open ranges: push/pop ranges of a thread, innermost last, and start/end ranges of the
// process, which any thread may end.
#pragma once

#include "base/memory_budget.hpp"
#include "model/ids.hpp"
#include "model/records.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <sys/mman.h>

namespace gpuprof::guest {

/// Everything needed to write an open range later, when a capture starts inside it.
struct open_range {
  range_id range{};
  range_id parent{};  // innermost push/pop range when it was opened
  name_id domain{};
  name_id name{};
  std::uint64_t time = 0;  // ticks of nvtx_ticks.hpp
  std::uint64_t payload_bits = 0;
  double flops = 0, bytes = 0;  // declared work
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  std::uint32_t written = 0;  // the log generation that holds its begin; 0: none
  std::uint16_t level = 0, level_in_domain = 0;
  range_style style{};
  payload_kind payload{};

  bool has_work() const noexcept { return flops != 0 || bytes != 0; }
};

/// Used by the owner thread only. A range deeper than `depth`, or without memory, is lost: it is
/// only counted, so that its pop can be matched.
class range_stack {
 public:
  using open_range = gpuprof::guest::open_range;
  static constexpr std::size_t depth = 4096;

  explicit range_stack(memory_budget& budget) noexcept : budget_(budget) {}

  range_id innermost() const noexcept { return size_ == 0 ? range_id{} : at(size_ - 1).range; }
  std::size_t size() const noexcept { return size_; }
  open_range& at(std::size_t i) noexcept {
    return i < block_size ? first_.ranges[i] : more_[i / block_size - 1][i % block_size];
  }
  open_range const& at(std::size_t i) const noexcept {
    return const_cast<range_stack&>(*this).at(i);
  }
  bool holds(range_id range) const noexcept {
    for (auto i = size_; i > 0; --i)
      if (at(i - 1).range == range) return true;
    return false;
  }
  /// Returns false if the next push() will fail.
  bool can_push() noexcept {
    if (too_deep_ > 0) return false;
    if (size_ < block_size) return true;
    if (size_ == depth) return false;
    auto& block = more_[size_ / block_size - 1];
    if (block == nullptr) block = map_block();
    return block != nullptr;
  }
  std::uint32_t too_deep() const noexcept { return too_deep_; }
  /// Call if their pops will not come.
  void forget_too_deep() noexcept { too_deep_ = 0; }

  /// Returns the level of a new range in this domain, counting only ranges of this domain. 0:
  /// outermost.
  std::uint16_t level_in(name_id domain) const noexcept {
    for (auto i = size_; i > 0; --i) {
      if (at(i - 1).domain == domain)
        return static_cast<std::uint16_t>(at(i - 1).level_in_domain + 1);
    }
    return 0;
  }

  /// Returns the place for one more range, or nullptr if there is none. After a failed push, later
  /// pushes also fail until that range has been popped.
  open_range* push() noexcept {
    if (!can_push()) {
      ++too_deep_;
      return nullptr;
    }
    return std::construct_at(&at(size_++));
  }

  /// The place of the innermost open range of this domain; size(): there is none.
  std::size_t find(name_id domain) const noexcept {
    for (auto i = size_; i > 0; --i)
      if (at(i - 1).domain == domain) return i - 1;
    return size_;
  }
  /// The same range; nullptr also if ranges were too deep.
  open_range const* innermost_of(name_id domain) const noexcept {
    auto const place = find(domain);
    return too_deep_ == 0 && place != size_ ? &at(place) : nullptr;
  }
  /// A pop that belongs to a range that was too deep. Returns false if there is none.
  bool pop_too_deep() noexcept {
    if (too_deep_ == 0) return false;
    --too_deep_;
    return true;
  }

  void remove(std::size_t i) noexcept {
    --size_;
    for (; i < size_; ++i) at(i) = at(i + 1);
  }

  /// Also releases the memory of deep ranges.
  void clear() noexcept {
    size_ = 0;
    too_deep_ = 0;
    for (auto& block : more_) {
      if (block == nullptr) continue;
      munmap(block, block_bytes);
      budget_.release(block_bytes);
      block = nullptr;
    }
  }

 private:
  static constexpr std::size_t block_size = 128, block_bytes = block_size * sizeof(open_range);

  open_range* map_block() noexcept {
    if (!budget_.reserve(block_bytes)) return nullptr;
    auto const saved_errno = errno;
    void* const memory =
        mmap(nullptr, block_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved_errno;
    if (memory != MAP_FAILED) return static_cast<open_range*>(memory);
    budget_.release(block_bytes);
    return nullptr;
  }

  /// Ranges are constructed one by one, so that the memory of unused ranges is not touched.
  union storage {
    storage() noexcept : none(0) {}
    char none;
    std::array<open_range, block_size> ranges;
  };
  memory_budget& budget_;
  std::size_t size_ = 0;
  std::uint32_t too_deep_ = 0;
  std::array<open_range*, depth / block_size - 1> more_{};
  storage first_;
};

// The open start/end ranges of the process: any thread may end them.

/// Can be used on any thread. Uses fixed memory, touched only as needed. Remembers up to 32768 open
/// ranges and counts the rest. Range ids are consecutive, so neighbors are in different buckets,
/// and their locks are rarely contended.
class started_ranges {
 public:
  static constexpr std::size_t buckets = 1024;
  static constexpr std::size_t per_bucket = 32;

  /// Reserves a place for add(). Returns false if its bucket is full: the end of this range will
  /// not be recognized.
  bool reserve(range_id id) noexcept {
    auto& b = bucket_of(id);
    std::lock_guard const lock(b.mutex);
    if (b.size + b.reserved == per_bucket) {
      forgotten_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    ++b.reserved;
    return true;
  }

  /// Stores the range in the place reserved by reserve(). Call once.
  void add(open_range const& range) noexcept {
    auto& b = bucket_of(range.range);
    std::lock_guard const lock(b.mutex);
    --b.reserved;
    b.open[b.size++] = range;
  }

  std::optional<open_range> remove(range_id id) noexcept {
    auto& b = bucket_of(id);
    std::lock_guard const lock(b.mutex);
    for (std::size_t i = 0; i < b.size; ++i) {
      if (b.open[i].range != id) continue;
      auto const found = b.open[i];
      b.open[i] = b.open[--b.size];
      return found;
    }
    return std::nullopt;
  }

  /// Calls visit(open_range&) with the bucket's lock held. It must not call back into this table.
  template <class Visit>
  void for_each(Visit visit) {
    for (auto& b : buckets_) {
      std::lock_guard const lock(b.mutex);
      for (std::size_t i = 0; i < b.size; ++i) visit(b.open[i]);
    }
  }

  /// Call in a child made by fork(), before any other use. The open ranges belong to the parent,
  /// and locks may be held by threads that the child does not have.
  void forget_parent() noexcept {
    for (auto& b : buckets_) {
      new (&b.mutex) std::mutex;
      b.size = b.reserved = 0;
    }
    forgotten_.store(0, std::memory_order_relaxed);
  }

  /// Number of ranges that found no place so far.
  std::uint64_t forgotten() const noexcept { return forgotten_.load(std::memory_order_relaxed); }

 private:
  struct bucket {
    std::mutex mutex;  // protects everything below
    std::size_t size = 0, reserved = 0;
    std::array<open_range, per_bucket> open;
  };
  bucket& bucket_of(range_id id) noexcept { return buckets_[raw(id) % buckets]; }

  std::array<bucket, buckets> buckets_;
  std::atomic<std::uint64_t> forgotten_{0};
};

}  // namespace gpuprof::guest
