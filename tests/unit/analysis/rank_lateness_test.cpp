// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/ranks/collective_waits.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;

TEST_CASE(
    "a rank is late by its distance to the median begin, counted in steps with a notable delay") {
  std::vector<collective_meeting> meetings;
  for (std::int64_t step = 0; step < 10; ++step) {
    auto const begin = step * 1'000'000;
    auto const is_late = step < 6;
    meetings.push_back({.ranks = {0, 1, 2},
                        .last = 2,
                        .last_start = begin + (is_late ? 50'000 : 5'000),
                        .median_start = begin});
  }
  auto const of = lateness_of(meetings, 4, 1'000'000);
  REQUIRE(of.size() == 4);
  CHECK(of[2].collectives == 10);
  CHECK(of[2].last_in == 10);
  CHECK(of[2].steps == 10);
  CHECK(of[2].late_steps == 6);
  CHECK(of[2].late_ns == 6 * 50'000 + 4 * 5'000);
  CHECK(of[0].late_steps == 0);
  CHECK(of[3].collectives == 0);
}

TEST_CASE("without steps no rank is late: some rank is always last in a collective") {
  std::vector<collective_meeting> const meetings = {
      {.ranks = {0, 1}, .last = 1, .last_start = 100, .median_start = 0}};
  CHECK(lateness_of(meetings, 2, 0)[1].last_in == 0);
  CHECK(lateness_of({}, 2, 0).size() == 2);
}
