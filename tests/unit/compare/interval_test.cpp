// SPDX-License-Identifier: Apache-2.0
#include "host/compare/interval.hpp"

#include "support/catch.hpp"

#include <cmath>

using namespace gpuprof::host::compare;

namespace {

observations of_values(std::vector<double> const& base, std::vector<double> const& fresh) {
  observations of;
  for (auto const value : base) of.base.push_back({value, 0, 10});
  for (auto const value : fresh) of.fresh.push_back({value, 0, 10});
  return of;
}

bool is_near(double a, double b) {
  return std::abs(a - b) < 1e-3 * std::abs(b);
}

}  // namespace

TEST_CASE("Student's interval equals that of the textbook") {
  // R: t.test(c(5.1, 4.9, 5.3), c(4.2, 4.0, 4.1), var.equal = TRUE)
  auto const found = interval_of(of_values({4.2, 4.0, 4.1}, {5.1, 4.9, 5.3}), 0.05);
  CHECK(found.from == noise_source::student);
  CHECK(is_near(found.estimate, 1.0));
  CHECK(is_near(found.low, 0.6416));
  CHECK(is_near(found.high, 1.3584));
}

TEST_CASE("the rank test is used only if there are enough runs to show anything") {
  std::vector<double> const base = {1, 2, 3, 4}, fresh = {11, 12, 13, 14};
  // The least two-sided probability of four against four is 2 / 70.
  CHECK(rank_interval(base, fresh, 0.0286));
  CHECK_FALSE(rank_interval(base, fresh, 0.0285));
  auto const found = interval_of(of_values(base, fresh), 0.05);
  CHECK(found.from == noise_source::mann_whitney);
  CHECK(found.estimate == 10);
  CHECK(found.low == 7);
  CHECK(found.high == 13);
}

TEST_CASE("many runs: the exact interval and that of the normal distribution agree") {
  std::vector<double> base, fresh;
  for (int i = 0; i < 25; ++i) {
    base.push_back(std::sin(i * 12.9));
    fresh.push_back(std::sin(i * 78.2) + 1);
  }
  auto const exact = rank_interval(base, fresh, 0.05);
  base.push_back(0.01);
  fresh.push_back(1.01);
  auto const normal = rank_interval(base, fresh, 0.05);
  REQUIRE(exact);
  REQUIRE(normal);
  CHECK(std::abs(exact->low - normal->low) < 0.08);
  CHECK(std::abs(exact->high - normal->high) < 0.08);
}

TEST_CASE("with one run a side a difference below the floor is never certain") {
  auto of = of_values({1.0}, {1.04});
  of.base.front().error = of.fresh.front().error = 0.001;
  of.floor = 0.05;
  auto const found = interval_of(of, 0.05);
  CHECK(found.from == noise_source::repetitions);
  CHECK_FALSE(found.excludes_zero());
  CHECK(found.half_width() > 0.05);
  of.floor = 0;
  CHECK(interval_of(of, 0.05).excludes_zero());
}

TEST_CASE("a figure without repetitions has no interval") {
  auto of = of_values({1.0}, {2.0});
  of.fresh.front().freedom = 0;
  CHECK_FALSE(interval_of(of, 0.05).is_known());
  CHECK_FALSE(interval_of({}, 0.05).is_known());
}

TEST_CASE("runs that agree better than their repetitions allow do so by chance") {
  auto of = of_values({1.0, 1.0}, {1.01, 1.01});
  CHECK(interval_of(of, 0.05).excludes_zero());
  for (auto* side : {&of.base, &of.fresh})
    for (auto& run : *side) run.error = 0.02;
  CHECK_FALSE(interval_of(of, 0.05).excludes_zero());
}

TEST_CASE("the number of runs needed follows from the spread of the runs") {
  auto const of = of_values({0, 0.02, 0.01}, {0.01, 0.03, 0.02});  // a deviation of 0.01
  // t of 62 degrees is 1.999; 1.999 x 0.01 x sqrt(2 / 32) is just below 0.005.
  CHECK(runs_needed(of, 0.05, 0.005) == 32);
  CHECK(runs_needed(of, 0.05, 0.02) == 4);
  CHECK(runs_needed(of, 0.05, 1e-6) == 0);
}
