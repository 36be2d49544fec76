// A clock half as dear as CLOCK_REALTIME, for ranges that may never be written down.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace gpuprof {

/// The processor's own counter, read in about 10 ns where clock_gettime takes 23.
inline std::uint64_t read_ticks() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return now().value;
#endif
}

/// Two looks at both clocks, one early and one now, give the line between them.
class tick_line {
 public:
  struct point {
    std::uint64_t ticks = 0;
    std::uint64_t time = 0;
  };

  static point look() noexcept { return {read_ticks(), now().value}; }

  constexpr tick_line(point early, point late) noexcept : late_(late) {
    auto const ticks = static_cast<double>(late.ticks - early.ticks);
    auto const time = static_cast<double>(late.time) - static_cast<double>(early.time);
    if (late.ticks > early.ticks && time > 0) ns_per_tick_ = time / ticks;
  }

  /// Never later than the second look: a counter that differs between sockets cannot put the start
  /// of a range after its end.
  constexpr std::uint64_t to_time(std::uint64_t ticks) const noexcept {
    if (ticks >= late_.ticks) return late_.time;
    auto const before = static_cast<double>(late_.ticks - ticks) * ns_per_tick_;
    return before >= static_cast<double>(late_.time)
               ? 0
               : late_.time - static_cast<std::uint64_t>(before);
  }

 private:
  point late_;
  double ns_per_tick_ = 0;
};

/// Where all lines begin; set when logs are configured, before any tick is stored.
inline tick_line::point first_look_at_ticks{};

}  // namespace gpuprof
