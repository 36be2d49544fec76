// SPDX-License-Identifier: Apache-2.0
#include "guest/collect/buffer_pool.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace gpuprof::guest {
namespace {

// These buffers exceed the budget. They are for CUPTI versions that may crash if no buffer is
// given.
constexpr std::size_t spare_buffer = 16 << 10;
constexpr unsigned max_spare_buffers = 64;

// For 1 MiB: 32 KiB, which hold 150 kernels. Each thread may have two: one that is being filled,
// and one that CUPTI has handed over and not got back yet.
std::size_t small_bytes(std::size_t large) {
  return std::max<std::size_t>(large / 32, 2 * spare_buffer);
}
constexpr std::size_t min_many = 16;  // large buffers

}  // namespace

buffer_pool::buffer_pool(memory_budget& budget, std::size_t buffer_bytes, bool null_is_safe)
    : budget_(budget),
      null_is_safe_(null_is_safe),
      large_(buffer_bytes, std::max<std::size_t>(budget.limit() / buffer_bytes, 2)),
      small_(small_bytes(buffer_bytes),
             std::max<std::size_t>(budget.limit() / small_bytes(buffer_bytes), 2)),
      many_(std::max(budget.limit() / buffer_bytes / 4, min_many)),
      mapped_(budget.limit() / small_.bytes + max_spare_buffers) {}

buffer_pool::~buffer_pool() {
  for (auto* const all : {&large_, &small_})
    while (auto* const bytes = take_ready(*all)) free_bytes_of({bytes, all->bytes});
}

buffer_pool::buffer buffer_pool::map(std::size_t bytes, bool populate) noexcept {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | (populate ? MAP_POPULATE : 0), -1, 0);
  if (mapped == MAP_FAILED) return {};
  buffer const made{static_cast<std::uint8_t*>(mapped), bytes};
  for (auto& place : mapped_) {
    std::uint8_t* unused = nullptr;
    if (place.compare_exchange_strong(unused, made.bytes, std::memory_order_release,
                                      std::memory_order_relaxed))
      return made;
  }
  munmap(mapped, bytes);
  return {};
}

void buffer_pool::unmap(buffer b) noexcept {
  for (auto& place : mapped_) {
    auto* known = b.bytes;
    if (place.compare_exchange_strong(known, nullptr, std::memory_order_relaxed)) break;
  }
  munmap(b.bytes, b.size);
}

// Called once per buffer, which means once in hundreds of records. So a search through some
// thousand places is cheap enough.
bool buffer_pool::is_ours(std::uint8_t const* bytes) const noexcept {
  for (auto const& place : mapped_) {
    if (place.load(std::memory_order_acquire) == bytes) return true;
  }
  return false;
}

void buffer_pool::free_bytes_of(buffer b) noexcept {
  unmap(b);
  budget_.release(b.size);
}

std::uint8_t* buffer_pool::take_ready(shelf& from) noexcept {
  auto const bytes = from.free.pop();
  if (!bytes) return nullptr;
  auto const left = from.ready.fetch_sub(1, std::memory_order_relaxed) - 1;
  // If two threads race here, the higher number may stay; then release_idle() frees one buffer
  // more.
  if (left < from.untouched.load(std::memory_order_relaxed))
    from.untouched.store(left, std::memory_order_relaxed);
  return *bytes;
}

bool buffer_pool::put_ready(shelf& to, std::uint8_t* bytes) noexcept {
  if (!to.free.push(bytes)) return false;
  to.ready.fetch_add(1, std::memory_order_relaxed);
  return true;
}

buffer_pool::buffer buffer_pool::take() noexcept {
  if (auto const large = take_from(large_, many_); large.bytes != nullptr) return large;
  if (auto const small = take_from(small_, mapped_.size()); small.bytes != nullptr) return small;
  refusals_.fetch_add(1, std::memory_order_relaxed);
  // CUPTI before 12.9 may crash if it gets no buffer: exceed the budget by at most a megabyte
  // first.
  return null_is_safe_ ? buffer{} : take_spare();
}

// `out` is increased first, because threads that start together may all spend time in mmap.
buffer_pool::buffer buffer_pool::take_from(shelf& from, std::size_t most) noexcept {
  if (from.out.fetch_add(1, std::memory_order_relaxed) < most) {
    if (auto* const ready = take_ready(from)) return {ready, from.bytes};
    if (budget_.reserve(from.bytes)) {
      if (auto const fresh = map(from.bytes, false); fresh.bytes != nullptr) return fresh;
      budget_.release(from.bytes);
    }
  }
  from.out.fetch_sub(1, std::memory_order_relaxed);
  return {};
}

buffer_pool::buffer buffer_pool::take_spare() noexcept {
  if (over_budget_.fetch_add(1, std::memory_order_relaxed) < max_spare_buffers) {
    if (auto const spare = map(spare_buffer, false); spare.bytes != nullptr) return spare;
  }
  over_budget_.fetch_sub(1, std::memory_order_relaxed);
  return {};
}

void buffer_pool::release(buffer b, std::size_t used) noexcept {
  if (b.bytes == nullptr) return;
  if (b.size == spare_buffer) {
    unmap(b);
    over_budget_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  auto& its = b.size == large_.bytes ? large_ : small_;
  its.out.fetch_sub(1, std::memory_order_relaxed);
  std::memset(b.bytes, 0, std::min(used, b.size));
  if (!put_ready(its, b.bytes)) free_bytes_of(b);
}

void buffer_pool::keep_ready(std::size_t count) noexcept {
  while (large_.ready.load(std::memory_order_relaxed) < count) {
    if (!budget_.reserve(large_.bytes)) return;
    auto const fresh = map(large_.bytes, true);
    if (fresh.bytes == nullptr) return budget_.release(large_.bytes);
    if (!put_ready(large_, fresh.bytes)) return free_bytes_of(fresh);
  }
}

void buffer_pool::release_idle(std::size_t kept) noexcept {
  for (auto* const all : {&large_, &small_}) {
    for (auto idle = all->untouched.load(std::memory_order_relaxed); idle > kept; --idle) {
      auto* const bytes = take_ready(*all);
      if (bytes == nullptr) break;
      free_bytes_of({bytes, all->bytes});
    }
    all->untouched.store(all->ready.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
}

}  // namespace gpuprof::guest
