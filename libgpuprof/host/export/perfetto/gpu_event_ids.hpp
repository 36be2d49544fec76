// SPDX-License-Identifier: Apache-2.0
// Ids of what ran on the GPU: unique in the file, and known from the call that launched it.
#pragma once

#include "model/ids.hpp"

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace gpuprof::perfetto {

/// A call launches one thing, or, with a graph, several: its correlation, with 0, 1, 2, ... above.
class gpu_event_ids {
 public:
  static std::uint64_t id(correlation_id correlation, std::uint64_t which) noexcept {
    return which << 32 | raw(correlation);
  }

  /// Of the next thing that this call has launched.
  std::uint64_t next(correlation_id correlation) {
    auto& page = pages_[raw(correlation) >> page_bits];
    if (!page) page = std::make_unique<std::bitset<page_size>>();
    auto bit = (*page)[raw(correlation) % page_size];
    if (bit) return id(correlation, ++more_[raw(correlation)]);
    bit = true;
    return id(correlation, 0);
  }

  /// How many a call has launched.
  std::uint64_t count(correlation_id correlation) const {
    auto const& page = pages_[raw(correlation) >> page_bits];
    if (!page || !page->test(raw(correlation) % page_size)) return 0;
    auto const more = more_.find(raw(correlation));
    return more != more_.end() ? more->second + 1 : 1;
  }

 private:
  static constexpr unsigned page_bits = 16;
  static constexpr std::size_t page_size = 1u << page_bits;
  std::array<std::unique_ptr<std::bitset<page_size>>, 1u << (32 - page_bits)> pages_;
  std::unordered_map<std::uint32_t, std::uint64_t> more_;
};

}  // namespace gpuprof::perfetto
