// SPDX-License-Identifier: Apache-2.0
// Points in time and durations in nanoseconds, and the two clocks that a trace needs.
#pragma once

#include <compare>
#include <cstdint>
#include <ctime>

namespace gpuprof {

inline constexpr std::uint64_t ns_per_ms = 1'000'000, ns_per_second = 1'000'000'000;

/// A duration in nanoseconds.
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

inline std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// CLOCK_REALTIME is the clock of CUPTI's records on Linux.
inline timestamp_ns now() noexcept {
  return {read_clock(CLOCK_REALTIME)};
}

/// Used for intervals and deadlines.
inline std::uint64_t monotonic_ns() noexcept {
  return read_clock(CLOCK_MONOTONIC);
}

// A part of the time of a trace.

/// A time range on the trace's clock, from `begin` to before `end`.
struct time_stretch {
  timestamp_ns begin{0};
  timestamp_ns end{~std::uint64_t{0}};
};

}  // namespace gpuprof
