// SPDX-License-Identifier: Apache-2.0
// Maps identifiers of a source, which may be texts or 64 bits wide, to 32-bit numbers. Different
// identifiers get different numbers.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>
#include <utility>

namespace gpuprof::host {

template <class Id>
class narrow_ids {
 public:
  /// Returns the number given to it before; otherwise `wanted` if that is free, or another number.
  /// The second value is true if the identifier is new.
  std::pair<std::uint32_t, bool> of(Id const& id, std::int64_t wanted) {
    auto const [at, is_new] = numbers_.try_emplace(id);
    if (!is_new) return {at->second, false};
    auto const fits = wanted >= INT32_MIN && wanted <= std::int64_t{UINT32_MAX};
    at->second = static_cast<std::uint32_t>(wanted);
    if (!fits || given_.contains(at->second)) {
      while (given_.contains(next_)) --next_;
      at->second = next_;
    }
    given_.insert(at->second);
    return {at->second, true};
  }

 private:
  std::map<Id, std::uint32_t> numbers_;
  std::unordered_set<std::uint32_t> given_;
  std::uint32_t next_ = 0xefff'ffff;  // thread ids are small; cut ones may lie anywhere above 2^31
};

}  // namespace gpuprof::host
