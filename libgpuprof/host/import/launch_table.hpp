// SPDX-License-Identifier: Apache-2.0
// Finds the call that launched a piece of GPU work by the number that both share.
#pragma once

#include "model/ids.hpp"

#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

struct launch {
  std::uint64_t time = 0;         // as in the source
  std::uint32_t range = 0;        // index of the range in its thread, from 1 on; 0: none
  std::uint32_t thread : 30 = 0;  // 0: no call was seen
  std::uint32_t asynchronous : 1 = 0;
  std::uint32_t is_of_several : 1 = 0;  // calls of several processes have the number
};
static_assert(sizeof(launch) == 16);

/// Sixteen bytes per launch. A bit marks each wanted number; its rank among the set bits is the
/// index of the launch. Call expect() for all numbers first, then find().
class launch_table {
 public:
  void expect(correlation_id number);
  /// Returns null if no work has this number.
  launch* find(correlation_id number);

 private:
  static constexpr std::size_t page_bits = 16;
  static constexpr std::size_t words = (1 << page_bits) / 64;
  struct page {
    std::uint64_t wanted[words] = {};
    std::uint32_t before[words] = {};  // set bits in the words before
    std::vector<launch> launches;      // allocated by the first find()
  };

  page* page_of(std::uint32_t number);

  std::unordered_map<std::uint32_t, std::unique_ptr<page>> pages_;
  std::uint32_t last_number_ = 0;
  page* last_ = nullptr;
};

}  // namespace gpuprof::host
