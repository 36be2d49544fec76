// SPDX-License-Identifier: Apache-2.0
// The host buffers that CUPTI writes records into. They are zeroed and reused, and their total size
// stays within the budget.
#pragma once

#include "base/bounded_queue.hpp"
#include "base/memory_budget.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::guest {

/// The buffers are zeroed here because with CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER set,
/// CUPTI does not clear them on the program's threads. CUPTI wants one buffer for each thread that
/// calls CUDA; if there are many threads, they get smaller buffers.
class buffer_pool {
 public:
  /// `null_is_safe`: this CUPTI (12.9 or later) can handle a null buffer. Otherwise a few small
  /// buffers over the budget are given out first.
  buffer_pool(memory_budget& budget, std::size_t buffer_bytes, bool null_is_safe);
  ~buffer_pool();
  buffer_pool(buffer_pool const&) = delete;
  buffer_pool& operator=(buffer_pool const&) = delete;

  struct buffer {
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
  };

  /// Any thread, also inside CUPTI callbacks. {nullptr, 0} when the budget is used up: counted in
  /// refusals().
  buffer take() noexcept;
  /// Any thread. False for memory that did not come from take(): another client of CUPTI has
  /// registered its own callbacks.
  bool is_ours(std::uint8_t const* bytes) const noexcept;
  /// One thread. Zeroes the first `used` bytes and keeps the buffer for later.
  void release(buffer b, std::size_t used) noexcept;
  /// One thread. Keeps `count` buffers ready with their pages mapped, so that take() seldom has to
  /// map memory.
  void keep_ready(std::size_t count) noexcept;
  /// One thread, called from time to time. Frees buffers that were not used since the last call,
  /// except `kept` of them.
  void release_idle(std::size_t kept) noexcept;

  std::uint64_t refusals() const noexcept { return refusals_.load(std::memory_order_relaxed); }
  /// Number of buffers that CUPTI holds, or that it handed back and that are not released yet.
  std::size_t out() const noexcept { return large_.out.load() + small_.out.load(); }
  /// Maximum number of buffers.
  std::size_t capacity() const noexcept { return mapped_.size(); }

 private:
  /// Buffers of one size.
  struct shelf {
    shelf(std::size_t bytes_each, std::size_t count) : bytes(bytes_each), free(count) {}
    std::size_t const bytes;
    bounded_queue<std::uint8_t*> free;
    std::atomic<std::size_t> ready{0};      // approximate number of buffers in `free`
    std::atomic<std::size_t> untouched{0};  // not taken since the last release_idle()
    std::atomic<std::size_t> out{0};
  };
  buffer take_from(shelf& from, std::size_t most) noexcept;
  buffer take_spare() noexcept;
  bool put_ready(shelf& to, std::uint8_t* bytes) noexcept;
  std::uint8_t* take_ready(shelf& from) noexcept;
  buffer map(std::size_t bytes, bool populate) noexcept;
  void unmap(buffer b) noexcept;
  void free_bytes_of(buffer b) noexcept;

  memory_budget& budget_;
  bool const null_is_safe_;
  shelf large_, small_;
  std::size_t const many_;  // from this number of large buffers in use, small ones are given
  std::vector<std::atomic<std::uint8_t*>> mapped_;  // all buffers; null: unused place
  std::atomic<std::uint64_t> refusals_{0};
  std::atomic<unsigned> over_budget_{0};  // spare buffers in use
};

}  // namespace gpuprof::guest
