// SPDX-License-Identifier: Apache-2.0
// The push/pop ranges a thread has open, innermost last.
#pragma once

#include "model/ids.hpp"
#include "model/records.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace gpuprof {

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
  std::uint32_t colour = 0;
  std::uint32_t written = 0;  // the log generation that holds its begin; 0: none
  std::uint16_t level_in_domain = 0;
  std::uint8_t level = 0;
  range_style style{};
  payload_kind payload{};

  bool has_work() const noexcept { return flops != 0 || bytes != 0; }
};

/// Owner thread only. Deeper than `depth` is counted, not stored: such ranges are lost, their pops
/// are matched.
class range_stack {
 public:
  using open_range = gpuprof::open_range;
  static constexpr std::size_t depth = 128;

  range_id innermost() const noexcept { return size_ == 0 ? range_id{} : at(size_ - 1).range; }
  std::size_t size() const noexcept { return size_; }
  open_range& at(std::size_t i) noexcept { return open_.ranges[i]; }
  open_range const& at(std::size_t i) const noexcept { return open_.ranges[i]; }
  bool holds(range_id range) const noexcept {
    for (auto i = size_; i > 0; --i)
      if (at(i - 1).range == range) return true;
    return false;
  }
  bool full() const noexcept { return size_ == depth; }
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

  /// A place for one more range; nullptr when deeper than `depth`.
  open_range* push() noexcept {
    if (full()) {
      ++too_deep_;
      return nullptr;
    }
    return std::construct_at(&at(size_++));
  }

  /// The innermost open range of this domain, good until the next push. nullptr when there is none
  /// (one pop too many), or when the pop belongs to a push that was too deep.
  open_range const* pop(name_id domain) noexcept {
    if (too_deep_ > 0) {
      --too_deep_;
      return nullptr;
    }
    for (auto i = size_; i > 0; --i) {
      if (at(i - 1).domain != domain) continue;
      --size_;
      if (i - 1 != size_) {  // into the place just above the others
        std::rotate(&at(i - 1), &at(i), &at(size_) + 1);
      }
      return &at(size_);
    }
    return nullptr;
  }

  void clear() noexcept {
    size_ = 0;
    too_deep_ = 0;
  }

 private:
  /// Made one by one: memory of ranges that are never opened is not touched.
  union storage {
    storage() noexcept : none(0) {}
    char none;
    std::array<open_range, depth> ranges;
  };
  std::size_t size_ = 0;
  std::uint32_t too_deep_ = 0;
  storage open_;
};

}  // namespace gpuprof
