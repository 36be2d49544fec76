// SPDX-License-Identifier: Apache-2.0
#include "host/import/launch_table.hpp"

namespace gpuprof::host {

launch_table::page* launch_table::page_of(std::uint32_t number) {
  if (last_ != nullptr && last_number_ == number) return last_;
  auto const found = pages_.find(number);
  if (found == pages_.end()) return nullptr;
  last_number_ = number;
  return last_ = found->second.get();
}

void launch_table::expect(correlation_id number) {
  auto const at = raw(number) >> page_bits;
  auto* page_at = page_of(at);
  if (page_at == nullptr) {
    pages_.emplace(at, std::make_unique<page>());
    page_at = page_of(at);
  }
  auto const bit = raw(number) & ((1u << page_bits) - 1);
  page_at->wanted[bit / 64] |= std::uint64_t{1} << bit % 64;
}

launch* launch_table::find(correlation_id number) {
  auto* const at = page_of(raw(number) >> page_bits);
  if (at == nullptr) return nullptr;
  if (at->launches.empty()) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < words; ++i) {
      at->before[i] = sum;
      sum += static_cast<std::uint32_t>(std::popcount(at->wanted[i]));
    }
    at->launches.resize(sum);
  }
  auto const bit = raw(number) & ((1u << page_bits) - 1);
  auto const word = at->wanted[bit / 64];
  auto const mask = std::uint64_t{1} << bit % 64;
  if ((word & mask) == 0) return nullptr;
  auto const below = static_cast<std::uint32_t>(std::popcount(word & (mask - 1)));
  return &at->launches[at->before[bit / 64] + below];
}

}  // namespace gpuprof::host
