// SPDX-License-Identifier: Apache-2.0
#include "host/page/duration_spread.hpp"
#include "support/catch.hpp"

using gpuprof::host::page::duration_series;

TEST_CASE("with few launches each is a point") {
  duration_series made(10);
  for (std::uint64_t i = 0; i < 10; ++i) made.add(1000 + 100 * i, 10 + i);
  CHECK(made.joined_within_ns() == 0);
  REQUIRE(made.points().size() == 10);
  CHECK(made.points()[9].start_ns == 1900);
  CHECK(made.points()[9].launches == 1);
  CHECK(made.points()[9].total_ns == 19);
}

TEST_CASE("many launches are joined by the time they began, and none is lost") {
  duration_series made(100);
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    auto const ns = i == 70'000 ? 5'000 : 100 + i % 7;
    made.add(1000 * i, ns);
    total += ns;
  }
  CHECK(made.points().size() <= 100);
  CHECK(made.points().size() >= 25);
  REQUIRE(made.joined_within_ns() > 0);
  std::uint64_t launches = 0, sum = 0, longest = 0, shortest = 1'000'000;
  for (std::size_t i = 0; i < made.points().size(); ++i) {
    auto const& one = made.points()[i];
    if (i > 0)
      CHECK(one.start_ns / made.joined_within_ns() >
            made.points()[i - 1].start_ns / made.joined_within_ns());
    launches += one.launches;
    sum += one.total_ns;
    longest = std::max(longest, one.longest_ns);
    shortest = std::min(shortest, one.shortest_ns);
  }
  CHECK(launches == 100'000);
  CHECK(sum == total);
  CHECK(longest == 5'000);
  CHECK(shortest == 100);
}

TEST_CASE("launches at one moment, or out of order, keep the limit") {
  duration_series made(10);
  for (std::uint64_t i = 0; i < 1000; ++i) made.add(5'000, 10);
  for (std::uint64_t i = 0; i < 1000; ++i) made.add(5'000 - i, 10);
  CHECK(made.points().size() <= 10);
  std::uint64_t launches = 0;
  for (auto const& one : made.points()) launches += one.launches;
  CHECK(launches == 2000);
}
