// SPDX-License-Identifier: Apache-2.0
// A set of correlation ids. The ids are counted up, so one bit per id takes little memory.
#pragma once

#include "capture/reader.hpp"
#include "model/records.hpp"

#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace gpuprof::host {

class correlation_set {
 public:
  /// Returns false if it was already in the set.
  bool insert(correlation_id id) {
    auto const place = raw(id) / page_bits;
    if (last_ == nullptr || last_place_ != place) {
      auto& found = pages_[place];
      if (!found) found = std::make_unique<page>();
      last_ = found.get();
      last_place_ = place;
    }
    auto bit = (*last_)[raw(id) % page_bits];
    if (bit) return false;
    return bit = true;
  }
  bool contains(correlation_id id) const {
    auto const found = pages_.find(raw(id) / page_bits);
    return found != pages_.end() && (*found->second)[raw(id) % page_bits];
  }

 private:
  // Small pages, because the ids of a damaged capture can be far apart.
  static constexpr std::uint32_t page_bits = 4096;
  using page = std::bitset<page_bits>;

  std::unordered_map<std::uint32_t, std::unique_ptr<page>> pages_;
  page* last_ = nullptr;
  std::uint32_t last_place_ = 0;
};

/// Returns the ids of all calls that a capture holds.
inline correlation_set ids_of_calls(capture::reader& file) {
  correlation_set ids;
  if (file.row_count<api_record>() == 0) return ids;
  file.for_each<api_record>(
      [&](std::span<api_record const> calls) {
        for (auto const& call : calls) ids.insert(call.correlation);
      },
      capture::only(&api_record::correlation));
  return ids;
}

}  // namespace gpuprof::host
