// SPDX-License-Identifier: Apache-2.0
#include "guest/nvtx/ticks.hpp"

#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

constexpr std::uint64_t second = 1'000'000'000, hour = 3600 * second;
constexpr std::uint64_t boot = 50'000;  // CLOCK_REALTIME when CLOCK_MONOTONIC was 0

/// Two ticks a nanosecond, from 1000 on. The wall clock was set by `set_by`.
tick_look look_at(std::uint64_t ns, std::int64_t set_by = 0) {
  return {1000 + 2 * ns, ns, boot + ns + static_cast<std::uint64_t>(set_by), 0};
}
std::uint64_t ticks_at(std::uint64_t ns) {
  return 1000 + 2 * ns;
}

}  // namespace

TEST_CASE("ticks are converted to times on the line through two readings") {
  tick_line line({1000, 0, 50'000, 0});
  line.add({2000, 1000, 51'000, 0});
  CHECK(line.to_time(1500) == 50'500);
  CHECK(line.to_time(1000) == 50'000);
  CHECK(line.to_time(2000) == 51'000);
  CHECK(line.to_time(9000) == 58'000);
}

TEST_CASE("readings that give no rate yield the time of the last one") {
  tick_line same({5, 0, 5, 0});
  same.add({5, 4, 9, 0});
  CHECK(same.to_time(5) == 9);
  tick_line back({9, 0, 9, 0});
  back.add({5, 91, 100, 0});
  CHECK(back.to_time(1) == 100);
}

TEST_CASE("when the wall clock is set, times jump from then on and durations stay the same") {
  for (auto const by : {std::int64_t{3600} * 1'000'000'000, std::int64_t{-3600} * 1'000'000'000,
                        std::int64_t{2'000'000}}) {
    INFO(by);
    auto const moved = static_cast<std::uint64_t>(by);
    tick_line line(look_at(10 * hour));
    line.add(look_at(11 * hour));
    line.add(look_at(11 * hour + second, by));
    line.add(look_at(20 * hour, by));
    auto const before =
        line.to_time(ticks_at(10 * hour + 18'000)) - line.to_time(ticks_at(10 * hour));
    auto const after =
        line.to_time(ticks_at(20 * hour)) - line.to_time(ticks_at(20 * hour - 18'000));
    CHECK(before == 18'000);
    CHECK(after == 18'000);
    CHECK(line.to_time(ticks_at(11 * hour)) == boot + 11 * hour);
    CHECK(line.to_time(ticks_at(10 * hour)) == boot + 10 * hour);
    CHECK(line.to_time(ticks_at(11 * hour + second)) == boot + 11 * hour + second + moved);
    CHECK(line.to_time(ticks_at(19 * hour)) == boot + 19 * hour + moved);
  }
}

TEST_CASE("the latest clock steps are kept, and earlier times use the oldest one kept") {
  tick_line line(look_at(0));
  constexpr std::uint64_t steps = 100;
  for (std::uint64_t i = 1; i <= steps; ++i)
    line.add(look_at(i * second, static_cast<std::int64_t>(i * second)));
  for (std::uint64_t i = steps - tick_line::max_steps; i <= steps; ++i)
    CHECK(line.to_time(ticks_at(i * second)) == boot + 2 * i * second);
  auto const oldest_known = (steps - tick_line::max_steps) * second;
  CHECK(line.to_time(ticks_at(10 * second)) == boot + 10 * second + oldest_known);
}

TEST_CASE("a reading during which the thread was delayed is not taken for a clock step") {
  tick_line line(look_at(0));
  line.add(look_at(second));
  auto late = look_at(2 * second, 500'000);
  late.accuracy = 1'000'000;
  line.add(late);
  CHECK(line.to_time(ticks_at(2 * second)) == boot + 2 * second);
  line.add(look_at(3 * second, 5'000));  // the clocks are read one after the other
  CHECK(line.to_time(ticks_at(3 * second)) == boot + 3 * second + 5'000);
}

TEST_CASE("a reading of the clocks of this machine is close to their values") {
  auto const before = now().value;
  auto const look = look_at_ticks();
  CHECK(look.realtime >= before);
  CHECK(look.realtime <= now().value);
  CHECK(look.monotonic <= monotonic_ns());
  CHECK(look.ticks <= read_ticks());
}

TEST_CASE("the counter is used unless the kernel found it unreliable") {
  for (auto const* const good :
       {"tsc\n", "kvm-clock\n", "hyperv_clocksource_tsc_page\n", "xen\n", "arch_sys_counter\n", ""})
    CHECK(kernel_trusts_ticks(good));
  for (auto const* const slow : {"hpet\n", "acpi_pm\n", "refined-jiffies\n", "jiffies", "pit\n"})
    CHECK_FALSE(kernel_trusts_ticks(slow));
}
