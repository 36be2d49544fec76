// SPDX-License-Identifier: Apache-2.0
// CUPTI numbers the calls of a process in 32 bits: what a correlation id says once they come round.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"

namespace gpuprof {

/// Within this time no correlation id comes twice, and is_before() is right: 2.4 million calls a
/// second are more than any program makes.
constexpr duration_ns ids_are_unique_for{1'800'000'000'000};

inline bool is_before(correlation_id one, correlation_id other) noexcept {
  return static_cast<std::int32_t>(raw(one) - raw(other)) < 0;
}

/// Whether equal ids, seen at these moments, mean the same call. 0: it is not known when.
inline bool are_of_one_call(timestamp_ns one, timestamp_ns other) noexcept {
  if (one.value == 0 || other.value == 0) return true;
  return one <= other + ids_are_unique_for && other <= one + ids_are_unique_for;
}

}  // namespace gpuprof
