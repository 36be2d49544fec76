// SPDX-License-Identifier: Apache-2.0
#include "host/page/timeline_bars.hpp"

#include "support/catch.hpp"

#include <numeric>

using gpuprof::host::page::bar;
using gpuprof::host::page::timeline_bars;

namespace {

/// Work of 100 ns each microsecond on one lane.
timeline_bars steady_work(std::size_t limit, std::uint64_t pieces) {
  timeline_bars bars(limit);
  auto const lane = bars.add_lane("GPU 0", "stream 7", 0);
  for (std::uint64_t i = 0; i < pieces; ++i) bars.add(lane, 1000 * i, 100, 3);
  return bars;
}

}  // namespace

TEST_CASE("below the limit each piece of work is a bar") {
  auto const bars = steady_work(1000, 1000);
  CHECK(bars.size() == 1000);
  CHECK(bars.joined_below_ns() == 0);
  auto const& last = bars.lanes().front().bars.back();
  CHECK(last.start_ns == 999'000);
  CHECK(last.length_ns == 100);
  CHECK(last.count == 1);
}

TEST_CASE("beyond the limit neighboring bars are joined, and nothing is lost") {
  auto const bars = steady_work(1000, 100'000);
  CHECK(bars.size() <= 1000);
  CHECK(bars.size() > 100);
  REQUIRE(bars.joined_below_ns() > 0);
  std::uint64_t pieces = 0, busy = 0, end = 0;
  for (auto const& one : bars.lanes().front().bars) {
    CHECK(one.start_ns >= end);
    CHECK(one.length_ns <= bars.joined_below_ns());
    end = one.start_ns + one.length_ns;
    pieces += one.count;
    busy += one.busy_ns;
  }
  CHECK(pieces == 100'000);
  CHECK(busy == 100u * 100'000);
  CHECK(end == 99'999'100);
}

TEST_CASE("a long piece of work stays a bar of its own beside joined ones") {
  timeline_bars bars(100);
  auto const lane = bars.add_lane("GPU 0", "stream 7", 0);
  bars.add(lane, 0, 50'000'000, 1);
  for (std::uint64_t i = 0; i < 1000; ++i) bars.add(lane, 50'000'000 + 1000 * i, 100, 2);
  auto const& first = bars.lanes().front().bars.front();
  CHECK(first.length_ns == 50'000'000);
  CHECK(first.name == 1);
  CHECK(first.count == 1);
}

TEST_CASE("a joined bar has the name of its longest piece") {
  timeline_bars bars(4);
  auto const lane = bars.add_lane("GPU 0", "stream 7", 0);
  for (std::uint32_t i = 0; i < 8; ++i) bars.add(lane, 100 * i, i == 5 ? 90 : 10, i);
  REQUIRE(bars.size() == 1);
  auto const& joined = bars.lanes().front().bars.front();
  CHECK(joined.name == 5);
  CHECK(joined.longest_ns == 90);
  CHECK(joined.count == 8);
}

TEST_CASE("a bar that begins inside the one before is cut") {
  timeline_bars bars(10);
  auto const lane = bars.add_lane("NVTX", "thread 1", 0);
  bars.add(lane, 0, 100, 0);
  bars.add(lane, 50, 100, 1);
  bars.add(lane, 60, 20, 2);
  auto const& made = bars.lanes().front().bars;
  REQUIRE(made.size() == 2);
  CHECK(made[1].start_ns == 100);
  CHECK(made[1].length_ns == 50);
}

TEST_CASE("more lanes than the limit keep one bar each") {
  timeline_bars bars(3);
  for (std::uint64_t i = 0; i < 6; ++i) {
    auto const lane = bars.add_lane("GPU 0", "stream", i);
    bars.add(lane, 0, 10, 0);
    bars.add(lane, 1000, 10, 0);
  }
  CHECK(bars.size() <= 12);
  CHECK(bars.lanes().size() == 6);
}
