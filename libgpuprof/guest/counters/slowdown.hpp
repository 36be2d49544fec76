// SPDX-License-Identifier: Apache-2.0
// How much slower a program runs of which every launch is read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

namespace gpuprof::guest {

/// Since the first launch.
struct reading_pace {
  std::uint64_t passed_ns = 0;
  std::uint64_t held_ns = 0;    // some call of the program waited for us
  std::uint64_t kernel_ns = 0;  // of all kernels
  std::uint64_t launches_read = 0;
};

/// How long it is watched before something is said.
constexpr std::uint64_t pace_after_ns = 2'000'000'000;

/// By how much longer it takes than by itself: without us it takes what it was not held for, and no
/// less than its kernels. Those on several streams or GPUs may have run side by side: an estimate.
inline double times_slower(reading_pace const& pace) noexcept {
  auto const passed = static_cast<double>(pace.passed_ns);
  auto const alone = std::max(passed - static_cast<double>(pace.held_ns),
                              std::min(static_cast<double>(pace.kernel_ns), passed));
  return passed / std::max(alone, passed / 1000);
}

inline std::string slowdown_line(reading_pace const& pace) {
  char text[256];
  std::snprintf(text, sizeof text,
                "--metrics exact reads every launch alone: the program takes about %.1f times as "
                "long (%llu launches read in %.1f s). --launch-count, --kernel-name or "
                "--capture-range limit what is read",
                times_slower(pace), static_cast<unsigned long long>(pace.launches_read),
                static_cast<double>(pace.passed_ns) / 1e9);
  return text;
}

}  // namespace gpuprof::guest
