// SPDX-License-Identifier: Apache-2.0
// How long something took that a file of others says the times of, whatever numbers these are.
#pragma once

#include "base/time.hpp"

#include <algorithm>

namespace gpuprof {

/// 0 where the end is before the start, or further away than a length can tell.
inline duration_ns time_between(std::int64_t start, std::int64_t end) noexcept {
  if (end <= start) return {};
  auto const length = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start);
  return {std::max<std::int64_t>(static_cast<std::int64_t>(length), 0)};
}

}  // namespace gpuprof
