// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/experiments/throughput.hpp"
#include "support/catch.hpp"

#include <algorithm>

using namespace gpuprof::guest::peaks;

namespace {

/// A block that ran `cycles` at 2 GHz from nanosecond `start` on. SMs count cycles from days of
/// their own.
block_span ran(std::uint32_t sm, std::uint64_t start, std::uint64_t cycles,
               std::uint32_t fold = 7) {
  auto const first_clock = 1'000'000ull * (sm + 1) + 2 * start;
  return {start, start + cycles / 2, first_clock, first_clock + cycles, sm, fold};
}

}  // namespace

TEST_CASE("a single block gives its own rate") {
  auto const r = rates_of(std::vector{ran(0, 1000, 4000)}, 8000);
  CHECK(r.per_clock == Approx(2));
  CHECK(r.seconds == Approx(2e-6));
  CHECK(r.per_second == Approx(8000 / 2e-6));
  CHECK(r.sm_clock_mhz == Approx(2000));
  CHECK(r.folds_agree);
}

TEST_CASE("rates of blocks on one SM are added over the time it was busy") {
  auto const together = rates_of(std::vector{ran(0, 0, 4000), ran(0, 0, 4000)}, 4000);
  CHECK(together.per_clock == Approx(2));
  auto const overlapping = rates_of(std::vector{ran(0, 0, 4000), ran(0, 500, 4000)}, 4000);
  CHECK(overlapping.per_clock == Approx(8000.0 / 5000));
  auto const in_turn = rates_of(std::vector{ran(0, 0, 4000), ran(0, 2000, 4000)}, 4000);
  CHECK(in_turn.per_clock == Approx(1));
}

TEST_CASE("the rate per clock is that of the median SM, the rate per second that of all SMs") {
  auto const r = rates_of(std::vector{ran(0, 0, 4000), ran(1, 0, 5000), ran(2, 0, 40000),
                                      ran(3, 0, 4000), ran(4, 0, 8000)},
                          4000);
  CHECK(r.per_clock == Approx(4000.0 / 5000));
  CHECK(r.seconds == Approx(20e-6));
  CHECK(r.per_second == Approx(5 * 4000 / 20e-6));
}

TEST_CASE("SMs with different numbers of blocks are each judged by their own blocks") {
  auto const r = rates_of(std::vector{ran(0, 0, 4000), ran(0, 0, 4000), ran(1, 0, 2000)}, 4000);
  CHECK(r.per_clock == Approx(2));
  auto const spread_out = rates_of(std::vector{ran(0, 0, 4000), ran(131, 100, 4000)}, 4000);
  CHECK(spread_out.per_clock == Approx(1));
  CHECK(spread_out.seconds == Approx(2.1e-6));
}

TEST_CASE("cycle counters of different SMs are never compared") {
  auto late = ran(1, 0, 4000);
  late.start_clock += 1ull << 60;
  late.end_clock += 1ull << 60;
  CHECK(rates_of(std::vector{ran(0, 0, 4000), late}, 4000).per_clock == Approx(1));
}

TEST_CASE("the clock is cycles over nanoseconds, the median of the blocks") {
  std::vector<block_span> blocks{ran(0, 0, 4000), ran(1, 0, 4000), ran(2, 0, 4000)};
  blocks[2].end_time = blocks[2].start_time + 4000;  // at 1 GHz
  CHECK(rates_of(blocks, 1).sm_clock_mhz == Approx(2000));
  blocks[1].end_time = blocks[1].start_time + 4000;
  CHECK(rates_of(blocks, 1).sm_clock_mhz == Approx(1000));
}

TEST_CASE("a block too short for the timer leaves no rate, though its fold still counts") {
  auto too_short = ran(1, 50, 4000);
  too_short.end_time = too_short.start_time;
  for (auto const& blocks : {std::vector{ran(0, 0, 4000), too_short}, std::vector{too_short}}) {
    auto const r = rates_of(blocks, 4000);
    CHECK(r.per_clock == 0);
    CHECK(r.per_second == 0);
    CHECK(r.seconds == 0);
    CHECK(r.folds_agree);
  }
  auto backwards = ran(0, 0, 4000);
  std::swap(backwards.start_clock, backwards.end_clock);
  CHECK(rates_of(std::vector{backwards}, 4000).seconds == 0);
}

TEST_CASE("folds agree only if all are equal, and no folds do not agree") {
  CHECK_FALSE(rates_of(std::vector{ran(0, 0, 4000, 1), ran(0, 0, 4000, 2)}, 1).folds_agree);
  CHECK_FALSE(
      rates_of(std::vector{ran(0, 0, 9, 1), ran(1, 0, 9, 1), ran(2, 0, 9, 3)}, 1).folds_agree);
  CHECK(rates_of(std::vector{ran(0, 0, 4000, 0), ran(1, 0, 4000, 0)}, 1).folds_agree);
  CHECK_FALSE(rates_of({}, 1).folds_agree);
  CHECK(rates_of({}, 1).seconds == 0);
}

TEST_CASE("seconds last from the first start to the last end, whichever blocks have them") {
  std::vector const starts{ran(0, 500, 10), ran(1, 300, 10), ran(2, 900, 10)};
  std::vector const ends{ran(3, 5000, 2000), ran(4, 4000, 8000)};
  CHECK(seconds_between(starts, ends) == Approx(7.7e-6));
  CHECK(seconds_between({}, ends) == 0);
  CHECK(seconds_between(starts, {}) == 0);
  CHECK(seconds_between(ends, starts) == 0);
}

TEST_CASE("a median is one of the middle values, and the spread refers to it") {
  CHECK(median_of({}) == 0);
  CHECK(median_of({5}) == 5);
  CHECK(median_of({9, 1, 5}) == 5);
  CHECK(median_of({4, 1, 3, 2}) == 3);
  CHECK(spread_of({}) == 0);
  CHECK(spread_of({5}) == 0);
  CHECK(spread_of({10, 12, 9}) == Approx(0.3));
  CHECK(spread_of({0, 0, 0}) == 0);
}

TEST_CASE("no sustained rate is above the burst") {
  gpuprof::peak_figure burst{100, 0.01, 8, {}}, better{101, 0.02, 5, {}}, worse{90, 0.02, 5, {}};
  better.chip.sm_clock_mhz = 1970;
  auto const raised = best_burst(burst, better);
  CHECK(raised.value == 101);
  CHECK(raised.chip.sm_clock_mhz == 1970);
  CHECK(raised.spread == 0.01);  // of the short runs
  CHECK(best_burst(burst, worse).value == 100);
  CHECK(best_burst(burst, {}).value == 100);
  CHECK_FALSE(best_burst({}, better).is_there());
}
