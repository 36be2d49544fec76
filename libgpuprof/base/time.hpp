// SPDX-License-Identifier: Apache-2.0
// Moments and lengths of time in nanoseconds.
#pragma once

#include <compare>
#include <cstdint>

namespace gpuprof {

inline constexpr std::uint64_t ns_per_ms = 1'000'000, ns_per_second = 1'000'000'000;

/// A length of time in nanoseconds.
struct duration_ns {
  std::int64_t value = 0;

  friend constexpr auto operator<=>(duration_ns, duration_ns) = default;
  friend constexpr duration_ns operator+(duration_ns a, duration_ns b) {
    return {a.value + b.value};
  }
  friend constexpr duration_ns operator-(duration_ns a, duration_ns b) {
    return {a.value - b.value};
  }
  constexpr duration_ns& operator+=(duration_ns other) {
    value += other.value;
    return *this;
  }
};

/// A moment in nanoseconds of CLOCK_REALTIME, the clock of CUPTI's records. 0 means "not known".
struct timestamp_ns {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(timestamp_ns, timestamp_ns) = default;
  friend constexpr duration_ns operator-(timestamp_ns a, timestamp_ns b) {
    return {static_cast<std::int64_t>(a.value - b.value)};
  }
  friend constexpr timestamp_ns operator+(timestamp_ns t, duration_ns d) {
    return {t.value + static_cast<std::uint64_t>(d.value)};
  }
};

}  // namespace gpuprof
