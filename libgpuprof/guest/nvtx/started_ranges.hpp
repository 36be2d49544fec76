// SPDX-License-Identifier: Apache-2.0
// The start/end ranges of the process that are open: any thread may end them.
#pragma once

#include "guest/nvtx/range_stack.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>

namespace gpuprof::guest {

/// Any thread. Fixed memory, touched as far as it is used: up to 32768 open ranges are remembered,
/// further ones are counted. Range ids count up, so neighbors lie in different buckets and their
/// locks are all but never contended.
class started_ranges {
 public:
  static constexpr std::size_t buckets = 1024;
  static constexpr std::size_t per_bucket = 32;

  /// Keeps a place for add(). False when its bucket is full: the end of this range will not be
  /// recognized.
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

  /// Into the place kept by reserve(), once.
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

  /// visit(open_range&) with the bucket's lock held: no calls back into this table.
  template <class Visit>
  void for_each(Visit visit) {
    for (auto& b : buckets_) {
      std::lock_guard const lock(b.mutex);
      for (std::size_t i = 0; i < b.size; ++i) visit(b.open[i]);
    }
  }

  /// In a child made by fork(), before anybody is here: what was open is its parent's, and locks
  /// may be held by threads that it does not have.
  void forget_parent() noexcept {
    for (auto& b : buckets_) {
      new (&b.mutex) std::mutex;
      b.size = b.reserved = 0;
    }
    forgotten_.store(0, std::memory_order_relaxed);
  }

  /// How many ranges found no place so far.
  std::uint64_t forgotten() const noexcept { return forgotten_.load(std::memory_order_relaxed); }

 private:
  struct bucket {
    std::mutex mutex;  // protects all below
    std::size_t size = 0, reserved = 0;
    std::array<open_range, per_bucket> open;
  };
  bucket& bucket_of(range_id id) noexcept { return buckets_[raw(id) % buckets]; }

  std::array<bucket, buckets> buckets_;
  std::atomic<std::uint64_t> forgotten_{0};
};

}  // namespace gpuprof::guest
