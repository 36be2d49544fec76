// SPDX-License-Identifier: Apache-2.0
#include "support/allocation_count.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> count{0};

void* allocated(std::size_t size) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size);
}
}  // namespace

std::uint64_t gpuprof::test::allocations() noexcept {
  return count.load(std::memory_order_relaxed);
}

void* operator new(std::size_t size) {
  if (void* const memory = allocated(size)) return memory;
  throw std::bad_alloc();
}
// std::stable_sort takes its buffer by this one and gives it back by the plain delete.
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
  return allocated(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
