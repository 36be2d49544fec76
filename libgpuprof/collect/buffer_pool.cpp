#include "collect/buffer_pool.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace gpuprof {
namespace {

constexpr std::size_t small_buffer = 16 << 10;
constexpr unsigned small_buffers_at_most = 64;

}  // namespace

buffer_pool::buffer_pool(memory_budget& budget, std::size_t buffer_bytes, bool null_is_safe)
    : budget_(budget),
      buffer_bytes_(buffer_bytes),
      null_is_safe_(null_is_safe),
      free_(std::max<std::size_t>(budget.limit() / buffer_bytes, 2)),
      mapped_(budget.limit() / buffer_bytes + small_buffers_at_most) {}

buffer_pool::~buffer_pool() {
  while (auto bytes = free_.pop()) {
    unmap({*bytes, buffer_bytes_});
    budget_.release(buffer_bytes_);
  }
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

// Asked once per buffer, that is once in thousands of records: a walk over some hundred places is
// cheap enough.
bool buffer_pool::is_ours(std::uint8_t const* bytes) const noexcept {
  for (auto const& place : mapped_) {
    if (place.load(std::memory_order_acquire) == bytes) return true;
  }
  return false;
}

buffer_pool::buffer buffer_pool::take() noexcept {
  if (auto bytes = free_.pop()) {
    ready_.fetch_sub(1, std::memory_order_relaxed);
    return {*bytes, buffer_bytes_};
  }
  if (budget_.reserve(buffer_bytes_)) {
    if (auto const fresh = map(buffer_bytes_, false); fresh.bytes != nullptr) return fresh;
    budget_.release(buffer_bytes_);
  }
  refusals_.fetch_add(1, std::memory_order_relaxed);
  // CUPTI before 12.9 may crash on a refusal: stretch the budget by at most a megabyte before it
  // comes to that.
  return null_is_safe_ ? buffer{} : take_small();
}

buffer_pool::buffer buffer_pool::take_small() noexcept {
  if (over_budget_.fetch_add(1, std::memory_order_relaxed) < small_buffers_at_most) {
    if (auto const small = map(small_buffer, false); small.bytes != nullptr) return small;
  }
  over_budget_.fetch_sub(1, std::memory_order_relaxed);
  return {};
}

void buffer_pool::give_back(buffer b, std::size_t used) noexcept {
  if (b.bytes == nullptr) return;
  if (b.size != buffer_bytes_) {  // one of the small ones
    unmap(b);
    over_budget_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  std::memset(b.bytes, 0, std::min(used, b.size));
  if (free_.push(b.bytes)) {
    ready_.fetch_add(1, std::memory_order_relaxed);
  } else {
    unmap(b);
    budget_.release(b.size);
  }
}

void buffer_pool::keep_ready(std::size_t count) noexcept {
  while (ready_.load(std::memory_order_relaxed) < count) {
    if (!budget_.reserve(buffer_bytes_)) return;
    auto const fresh = map(buffer_bytes_, true);
    if (fresh.bytes == nullptr) {
      budget_.release(buffer_bytes_);
      return;
    }
    if (!free_.push(fresh.bytes)) {
      unmap(fresh);
      budget_.release(buffer_bytes_);
      return;
    }
    ready_.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace gpuprof
