// SPDX-License-Identifier: Apache-2.0
// The clock of ring entries: the processor's counter, converted to CLOCK_REALTIME when a ring is
// drained.
#pragma once

#include "base/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace gpuprof::guest {

/// True if the counter has the same constant rate on all cores and in all power states. Set when
/// logs are configured.
inline bool ticks_are_steady = false;

/// Returns false if the kernel has found that the counter of this machine is wrong and uses a slow
/// clock instead. `clocksource`: content of
/// /sys/devices/system/clocksource/clocksource0/current_clocksource; empty if not known.
bool kernel_trusts_ticks(std::string_view clocksource) noexcept;

/// Takes about 10 ns (clock_gettime takes 23). Returns nanoseconds of CLOCK_MONOTONIC if the
/// counter is not usable.
inline std::uint64_t read_ticks() noexcept {
#if defined(__x86_64__)
  if (ticks_are_steady) return __rdtsc();
#elif defined(__aarch64__)
  if (ticks_are_steady) {
    std::uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#endif
  return monotonic_ns();
}

/// All clocks, read at nearly the same time.
struct tick_look {
  std::uint64_t ticks = 0;
  std::uint64_t monotonic = 0;
  std::uint64_t realtime = 0;
  std::uint64_t accuracy = 0;  // nanoseconds between the readings
};
tick_look look_at_ticks() noexcept;

/// Converts ticks to CLOCK_REALTIME. The rate is that of CLOCK_MONOTONIC, which NTP adjusts like
/// CLOCK_REALTIME but which is never set. If CLOCK_REALTIME is set, its distance to CLOCK_MONOTONIC
/// changes from then on; earlier times keep the old distance.
class tick_line {
 public:
  /// Number of clock steps that are kept. Times before the oldest of them ignore earlier steps.
  static constexpr std::size_t max_steps = 15;
  /// Smaller steps cannot be distinguished from the inaccuracy of the clocks.
  static constexpr std::uint64_t least_step_ns = 20'000;

  constexpr tick_line() noexcept = default;
  constexpr explicit tick_line(tick_look const& first) noexcept : first_(first), last_(first) {
    pieces_[0] = {0, distance_of(first)};
  }

  /// Call from time to time, with looks in order of time.
  constexpr void add(tick_look const& now) noexcept {
    auto& latest = pieces_[size_ - 1];
    auto const distance = distance_of(now);
    auto const change = static_cast<std::uint64_t>(
        distance > latest.distance ? distance - latest.distance : latest.distance - distance);
    if (change > least_step_ns + now.accuracy)
      begin_piece(last_.ticks, distance);  // the clock was set since the last look
    else if (now.accuracy < least_step_ns)
      latest.distance = distance;
    last_ = now;
    auto const ticks = static_cast<double>(now.ticks - first_.ticks);
    auto const time = static_cast<double>(now.monotonic) - static_cast<double>(first_.monotonic);
    if (now.ticks > first_.ticks && time > 0) ns_per_tick_ = time / ticks;
  }

  /// Also works for ticks shortly before the first look or after the last.
  constexpr std::uint64_t to_time(std::uint64_t ticks) const noexcept {
    auto const since =
        static_cast<double>(static_cast<std::int64_t>(ticks - last_.ticks)) * ns_per_tick_;
    auto const monotonic =
        last_.monotonic + static_cast<std::uint64_t>(static_cast<std::int64_t>(since));
    auto i = size_ - 1;
    while (i > 0 && ticks <= pieces_[i].after) --i;
    return monotonic + static_cast<std::uint64_t>(pieces_[i].distance);
  }
  constexpr std::uint64_t to_ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }

 private:
  struct piece {
    std::uint64_t after = 0;    // ticks
    std::int64_t distance = 0;  // CLOCK_REALTIME - CLOCK_MONOTONIC
  };
  static constexpr std::int64_t distance_of(tick_look const& look) noexcept {
    return static_cast<std::int64_t>(look.realtime - look.monotonic);
  }
  constexpr void begin_piece(std::uint64_t after, std::int64_t distance) noexcept {
    if (size_ == pieces_.size()) {
      for (std::size_t i = 1; i < size_; ++i) pieces_[i - 1] = pieces_[i];
      --size_;
    }
    pieces_[size_++] = {after, distance};
  }

  tick_look first_, last_;
  double ns_per_tick_ = 0;
  std::array<piece, max_steps + 1> pieces_{};
  std::size_t size_ = 1;
};

/// Checks if the counter is usable and takes the first look. Call before any tick is stored.
void begin_ticks() noexcept;
/// Call in a child made by fork(), before its first log.
void begin_ticks_in_child() noexcept;
/// Takes one more look and returns the line of the process. Called by the drain thread only.
tick_line const& look_at_tick_line() noexcept;

}  // namespace gpuprof::guest
