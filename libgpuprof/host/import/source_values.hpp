// SPDX-License-Identifier: Apache-2.0
// Converts times and sizes in files of other programs, whatever their values.
#pragma once

#include "base/time.hpp"

#include <algorithm>
#include <cstdint>

namespace gpuprof::host {

/// Returns 0 if the end is before the start or the length does not fit.
inline duration_ns time_between(std::int64_t start, std::int64_t end) noexcept {
  if (end <= start) return {};
  auto const length = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start);
  return {std::max<std::int64_t>(static_cast<std::int64_t>(length), 0)};
}

/// True if the value fits into 32 bits.
inline bool is_size(std::int64_t said) noexcept {
  return said >= 0 && said <= INT64_C(0xffffffff);
}
/// Returns a size or count. 0 means that it is not known; values that cannot be a size become 0,
/// too.
inline std::uint32_t size_in(std::int64_t said) noexcept {
  return is_size(said) ? static_cast<std::uint32_t>(said) : 0;
}
inline std::uint64_t bytes_in(std::int64_t said) noexcept {
  return said > 0 ? static_cast<std::uint64_t>(said) : 0;
}

}  // namespace gpuprof::host
