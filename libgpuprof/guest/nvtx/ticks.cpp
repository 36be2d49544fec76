// SPDX-License-Identifier: Apache-2.0
#include "guest/nvtx/ticks.hpp"

#include "base/no_cancellation.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gpuprof::guest {
namespace {

constinit tick_look first_look{};
constinit tick_line line_of_process{};

/// Returns what the processor reports. Always true on Arm, whose counter is steady by definition.
bool processor_has_steady_ticks() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
  return true;
#endif
}

bool kernel_has_steady_ticks() noexcept {
  no_cancellation const whole;
  auto const saved_errno = errno;
  std::array<char, 64> text{};
  auto length = ssize_t{0};
  auto const file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                         O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    length = read(file, text.data(), text.size());
    close(file);
  }
  errno = saved_errno;
  return kernel_trusts_ticks({text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))});
}

}  // namespace

bool kernel_trusts_ticks(std::string_view clocksource) noexcept {
  // Linux uses one of these clocks only if it cannot use the counter. Clocks of hypervisors
  // ("kvm-clock", "hyperv_clocksource_tsc_page", "xen") are based on the counter.
  constexpr std::string_view slow_clocks[] = {"hpet", "acpi_pm", "pit", "jiffies",
                                              "refined-jiffies"};
  auto const name = clocksource.substr(0, clocksource.find('\n'));
  return std::ranges::find(slow_clocks, name) == std::end(slow_clocks);
}

/// Reads the clocks three times and returns the result with the shortest time between the readings.
tick_look look_at_ticks() noexcept {
  tick_look best;
  auto least = ~std::uint64_t{0};
  for (int i = 0; i < 3; ++i) {
    auto const before = read_ticks();
    auto const early = monotonic_ns();
    auto const realtime = now().value;
    auto const late = monotonic_ns();
    auto const after = read_ticks();
    if (after - before >= least) continue;
    least = after - before;
    best = {before + (after - before) / 2, early + (late - early) / 2, realtime, late - early};
  }
  return best;
}

void begin_ticks() noexcept {
  ticks_are_steady = processor_has_steady_ticks() && kernel_has_steady_ticks();
  first_look = look_at_ticks();
  line_of_process = tick_line(first_look);
}

void begin_ticks_in_child() noexcept {
  line_of_process = tick_line(first_look);
}

tick_line const& look_at_tick_line() noexcept {
  line_of_process.add(look_at_ticks());
  return line_of_process;
}

}  // namespace gpuprof::guest
