// SPDX-License-Identifier: Apache-2.0
// Reads the two clocks a trace needs.
#pragma once

#include "base/time.hpp"

#include <ctime>

namespace gpuprof {

inline std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// The clock of CUPTI's records on Linux: CLOCK_REALTIME.
inline timestamp_ns now() noexcept {
  return {read_clock(CLOCK_REALTIME)};
}

/// For intervals and deadlines.
inline std::uint64_t monotonic_ns() noexcept {
  return read_clock(CLOCK_MONOTONIC);
}

}  // namespace gpuprof
