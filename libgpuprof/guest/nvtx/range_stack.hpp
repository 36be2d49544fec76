// SPDX-License-Identifier: Apache-2.0
// The push/pop ranges a thread has open, innermost last.
#pragma once

#include "base/memory_budget.hpp"
#include "model/ids.hpp"
#include "model/records.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sys/mman.h>

namespace gpuprof::guest {

/// All that is needed to write an open range down later, when a capture starts inside it.
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

/// Owner thread only. Deeper than `depth`, or than there is memory for, is counted, not stored:
/// such ranges are lost, their pops are matched.
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
  /// False if the next push() will find no place.
  bool can_push() noexcept {
    if (too_deep_ > 0) return false;
    if (size_ < block_size) return true;
    if (size_ == depth) return false;
    auto& block = more_[size_ / block_size - 1];
    if (block == nullptr) block = map_block();
    return block != nullptr;
  }
  std::uint32_t too_deep() const noexcept { return too_deep_; }
  /// When no pops for them will come.
  void forget_too_deep() noexcept { too_deep_ = 0; }

  /// The range that a push in this domain would lie in, counting this domain alone; 0: outermost.
  std::uint16_t level_in(name_id domain) const noexcept {
    for (auto i = size_; i > 0; --i) {
      if (at(i - 1).domain == domain)
        return static_cast<std::uint16_t>(at(i - 1).level_in_domain + 1);
    }
    return 0;
  }

  /// A place for one more range; nullptr if there is none. While ranges are open that found none,
  /// there is none: their pops come first.
  open_range* push() noexcept {
    if (!can_push()) {
      ++too_deep_;
      return nullptr;
    }
    return std::construct_at(&at(size_++));
  }

  /// The one that pop() would take.
  open_range const* innermost_of(name_id domain) const noexcept {
    if (too_deep_ > 0) return nullptr;
    for (auto i = size_; i > 0; --i)
      if (at(i - 1).domain == domain) return &at(i - 1);
    return nullptr;
  }
  /// The innermost open range of this domain. Nothing when there is none (one pop too many), or
  /// when the pop belongs to a push that was too deep.
  std::optional<open_range> pop(name_id domain) noexcept {
    if (too_deep_ > 0) {
      --too_deep_;
      return std::nullopt;
    }
    for (auto i = size_; i > 0; --i)
      if (at(i - 1).domain == domain) return remove(i - 1);
    return std::nullopt;
  }

  open_range remove(std::size_t i) noexcept {
    auto const removed = at(i);
    --size_;
    for (; i < size_; ++i) at(i) = at(i + 1);
    return removed;
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

  /// Made one by one: memory of ranges that are never opened is not touched.
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

}  // namespace gpuprof::guest
