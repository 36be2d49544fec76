// SPDX-License-Identifier: Apache-2.0
// Zeroed memory from the system that counts against the budget, for what a thread of the program
// keeps beside its ring.
#pragma once

#include "base/memory_budget.hpp"

#include <cstddef>
#include <sys/mman.h>
#include <utility>

namespace gpuprof {

/// Used by one thread at a time.
class side_memory {
 public:
  explicit side_memory(memory_budget& budget) noexcept : budget_(&budget) {}
  side_memory(side_memory const&) = delete;
  side_memory& operator=(side_memory const&) = delete;
  ~side_memory() { release(); }

  /// Null until allocate() has succeeded.
  std::byte* data() const noexcept { return data_; }
  memory_budget& budget() const noexcept { return *budget_; }

  /// Releases what it has. Returns false if the budget or the system has no room.
  bool allocate(std::size_t bytes) noexcept {
    release();
    if (!budget_->reserve(bytes)) return false;
    auto* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      budget_->release(bytes);
      return false;
    }
    data_ = static_cast<std::byte*>(memory);
    bytes_ = bytes;
    return true;
  }
  void release() noexcept {
    if (data_ == nullptr) return;
    munmap(data_, bytes_);
    budget_->release(bytes_);
    data_ = nullptr;
    bytes_ = 0;
  }
  void swap(side_memory& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

 private:
  memory_budget* budget_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace gpuprof
