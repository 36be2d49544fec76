// SPDX-License-Identifier: Apache-2.0
#include "host/page/counter_tracks.hpp"
#include "support/catch.hpp"

#include <array>
#include <cmath>

using gpuprof::host::page::counter_series;

namespace {

/// Intervals of 20 us in a row; the second track has 1 each, but 100 in one of them.
counter_series steady(std::size_t limit, std::size_t intervals, std::size_t greatest_at) {
  counter_series series(limit);
  series.add_track();
  series.add_track();
  for (std::size_t i = 0; i < intervals; ++i)
    series.add(20'000 * i, 20'000,
               std::array{static_cast<double>(i % 2), i == greatest_at ? 100.0 : 1.0});
  return series;
}

}  // namespace

TEST_CASE("below the limit each interval keeps its values") {
  auto const series = steady(100, 100, 30);
  CHECK(series.points().size() == 100);
  CHECK(series.joined_below_ns() == 0);
  CHECK(series.values(0)[31].mean == 1);
  CHECK(series.values(1)[30].greatest == 100);
}

TEST_CASE("beyond the limit intervals are joined with mean, minimum and maximum") {
  constexpr std::size_t intervals = 5000;
  auto const series = steady(100, intervals, 1234);
  REQUIRE(series.points().size() <= 100);
  CHECK(series.points().size() > 10);
  CHECK(series.joined_below_ns() > 0);
  double sum = 0, greatest = 0;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < series.points().size(); ++i) {
    auto const& point = series.points()[i];
    CHECK(point.start_ns == end);
    CHECK(point.length_ns <= series.joined_below_ns());
    end = point.start_ns + point.length_ns;
    sum += series.values(1)[i].mean * static_cast<double>(point.length_ns) / 20'000;
    greatest = std::max<double>(greatest, series.values(1)[i].greatest);
    CHECK(series.values(0)[i].least == 0);
    CHECK(series.values(0)[i].greatest == 1);
  }
  CHECK(end == 20'000 * intervals);
  CHECK(greatest == 100);
  CHECK(std::abs(sum - (intervals + 99)) < 0.01 * intervals);
}

TEST_CASE("a mean counts the time that was sampled, not the pause between") {
  counter_series series(100);
  series.add_track();
  series.add(0, 3000, std::array{1.0});
  series.add(90'000, 1000, std::array{5.0});
  series.keep(1);
  REQUIRE(series.points().size() == 1);
  CHECK(series.points()[0].length_ns == 91'000);
  CHECK(series.points()[0].counted_ns == 4000);
  CHECK(series.values(0)[0].mean == 2);
}

TEST_CASE("a track that comes later has no values before, and gaps stay gaps") {
  counter_series series(100);
  series.add_track();
  series.add(0, 1000, std::array{1.0});
  auto const later = series.add_track();
  series.add(1000, 1000, std::array{std::nan(""), 2.0});
  CHECK_FALSE(series.values(later)[0].is_there());
  CHECK_FALSE(series.values(0)[1].is_there());
  series.keep(1);
  REQUIRE(series.points().size() == 1);
  CHECK(series.values(0)[0].mean == 1);
  CHECK(series.values(later)[0].mean == 2);
}

TEST_CASE("an interval that overlaps the last one is cut; one inside it is left out") {
  counter_series series(100);
  series.add_track();
  series.add(1000, 1000, std::array{1.0});
  series.add(1500, 1000, std::array{2.0});
  series.add(1600, 100, std::array{3.0});
  REQUIRE(series.points().size() == 2);
  CHECK(series.points()[1].start_ns == 2000);
  CHECK(series.points()[1].length_ns == 500);
}
