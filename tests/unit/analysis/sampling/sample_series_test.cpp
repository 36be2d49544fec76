// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sample_series.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <limits>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

constexpr std::uint64_t origin = 1'700'000'000'000'000'000;

void add(sample_series& to, std::uint32_t column, std::uint64_t start, std::int64_t length,
         double value) {
  to.add(column, {origin + start}, {length}, value);
}

}  // namespace

TEST_CASE("metric names tell if and how values add up over time") {
  CHECK(sampled_metric_of("dram__bytes_read.sum").how == summing::amount);
  CHECK(sampled_metric_of("sm__cycles_active.avg").how == summing::amount);
  CHECK(sampled_metric_of("dram__bytes_read.sum.per_second").how == summing::over_time);
  CHECK(sampled_metric_of("gpc__cycles_elapsed.avg.per_second").runs_when_idle);
  CHECK_FALSE(sampled_metric_of("dram__bytes_read.sum.per_second").runs_when_idle);
  CHECK(sampled_metric_of("sm__warps_active.avg.pct_of_peak_sustained_active").how ==
        summing::over_active_cycles);
  CHECK(sampled_metric_of("dram__bytes.sum.pct_of_peak_sustained_elapsed").how ==
        summing::over_time);
  for (auto const* const name :
       {"lts__average_hit_rate.ratio", "sm__cycles_active.max", "sm__cycles_active.min",
        "sm__cycles_active.max.per_second", "sm__inst_executed.sum.per_cycle_active",
        "lts__t_sector_hit_rate.pct", "lts__t_bytes.sum.pct_of_peak_sustained_active",
        "sm__throughput.avg.pct_of_peak_sustained_elapsed", "", ".sum.per_second.max"}) {
    INFO(name);
    CHECK(sampled_metric_of(name).how == summing::never);
  }
}

TEST_CASE("blocks of metrics in any order become rows of intervals in order of time") {
  sample_series series;
  auto const bytes = series.define("dram__bytes_read.sum");
  auto const cycles = series.define("sm__cycles_active.avg");
  for (std::uint64_t i = 3; i < 6; ++i) add(series, cycles, i * 20, 20, 100.0 + double(i));
  for (std::uint64_t i = 0; i < 6; ++i) add(series, bytes, i * 20, 20, double(i));
  for (std::uint64_t i = 0; i < 3; ++i) add(series, cycles, i * 20, 20, 100.0 + double(i));
  series.finish();
  REQUIRE(series.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(series.intervals()[i].start == origin + i * 20);
    CHECK(series.amount(i, bytes) == double(i));
    CHECK(series.amount(i, cycles) == 100.0 + double(i));
  }
  CHECK(series.typical_interval() == 20);
  CHECK(series.are_joined(0, 5));
}

TEST_CASE("a missing value is NaN, and a gap ends a run") {
  sample_series series;
  auto const bytes = series.define("dram__bytes_read.sum");
  auto const cycles = series.define("sm__cycles_active.avg");
  for (std::uint64_t const start : {0, 20, 60}) add(series, bytes, start, 20, 1);
  add(series, cycles, 20, 20, 1);
  add(series, cycles, 60, 20, std::numeric_limits<double>::infinity());
  series.finish();
  CHECK(std::isnan(series.amount(0, cycles)));
  CHECK(std::isnan(series.amount(2, cycles)));
  CHECK(series.are_joined(0, 1));
  CHECK_FALSE(series.are_joined(1, 2));
  CHECK(series.at(origin + 39) == 1u);
  CHECK_FALSE(series.at(origin + 45));
  CHECK_FALSE(series.at(origin - 1));
  CHECK_FALSE(series.touches(origin + 40, origin + 60));
  CHECK(series.touches(origin + 40, origin + 61));
}

TEST_CASE("impossible rows are left out") {
  sample_series series;
  auto const bytes = series.define("dram__bytes_read.sum");
  add(series, bytes, 0, 20, 1);
  add(series, bytes, 10, 20, 1);  // overlaps the first
  add(series, bytes, 40, 0, 1);
  add(series, bytes, 60, -5, 1);
  add(series, bytes, 5, std::int64_t{1} << 60, 1);
  series.add(bytes, {~std::uint64_t{0}}, {20}, 1);
  series.finish();
  CHECK(series.size() == 1);
}

TEST_CASE("the product of intervals and columns is bounded, even for few values") {
  sample_series series;
  auto const often = series.define("dram__bytes_read.sum");
  std::vector<std::uint32_t> once;
  for (int i = 0; i < 100; ++i) once.push_back(series.define("dram__bytes_write.sum"));
  for (std::uint64_t i = 0; i < 50; ++i)
    CHECK(series.add(often, timestamp_ns{1'000'000 + i * 20'000}, duration_ns{20'000}, 1, 120));
  // A column takes a place in each interval: there is room for one more, and ten intervals.
  CHECK(series.add(once[0], timestamp_ns{1'000'000}, duration_ns{20'000}, 1, 120));
  CHECK_FALSE(series.add(once[1], timestamp_ns{1'000'000}, duration_ns{20'000}, 1, 120));
  for (std::uint64_t i = 50; i < 60; ++i)
    CHECK(series.add(often, timestamp_ns{1'000'000 + i * 20'000}, duration_ns{20'000}, 1, 120));
  CHECK_FALSE(series.add(often, timestamp_ns{9'000'000}, duration_ns{20'000}, 1, 120));
  CHECK(series.places() == 120);
  series.finish();
  CHECK(series.size() == 60);
  CHECK(series.amount(0, once[0]) == 1);
  CHECK(std::isnan(series.amount(0, once[1])));
}
