// SPDX-License-Identifier: Apache-2.0
// The clock of ring entries: the processor's own counter, turned into CLOCK_REALTIME when a ring is
// drained.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace gpuprof {

/// Whether the counter runs at one rate on all cores and in all power states. Set when logs are
/// configured.
inline bool ticks_are_steady = false;

/// Asks the processor; always true on Arm, whose counter is so by definition.
inline bool find_out_whether_ticks_are_steady() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
  return true;
#endif
}

/// About 10 ns where clock_gettime takes 23. Nanoseconds of CLOCK_REALTIME where the counter is no
/// good.
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
  return now().value;
}

/// Two looks at both clocks, one early and one now, give the line between them.
class tick_line {
 public:
  struct point {
    std::uint64_t ticks = 0;
    std::uint64_t time = 0;
  };

  /// The best of three: the one in which the least could come between the two clocks.
  static point look() noexcept {
    point best;
    auto least = ~std::uint64_t{0};
    for (int i = 0; i < 3; ++i) {
      auto const before = read_ticks();
      auto const time = now().value;
      auto const between = read_ticks() - before;
      if (between >= least) continue;
      least = between;
      best = {before + between / 2, time};
    }
    return best;
  }

  constexpr tick_line(point early, point late) noexcept : late_(late) {
    auto const ticks = static_cast<double>(late.ticks - early.ticks);
    auto const time = static_cast<double>(late.time) - static_cast<double>(early.time);
    if (late.ticks > early.ticks && time > 0) ns_per_tick_ = time / ticks;
  }

  /// Also for ticks a little before the first look or after the second.
  constexpr std::uint64_t to_time(std::uint64_t ticks) const noexcept {
    auto const since =
        static_cast<double>(static_cast<std::int64_t>(ticks - late_.ticks)) * ns_per_tick_;
    return late_.time + static_cast<std::uint64_t>(static_cast<std::int64_t>(since));
  }

 private:
  point late_;
  double ns_per_tick_ = 0;
};

/// Where all lines begin; set when logs are configured, before any tick is stored.
inline tick_line::point first_look_at_ticks{};

}  // namespace gpuprof
