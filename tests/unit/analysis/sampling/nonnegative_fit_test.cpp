// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/nonnegative_fit.hpp"

#include "support/catch.hpp"

#include <random>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

using row = std::vector<std::pair<std::uint32_t, double>>;

void add(nonnegative_fit& to, row const& values, std::vector<double> const& right) {
  to.add(values, right);
}

}  // namespace

TEST_CASE("the sum of two unknowns and one of them alone give both") {
  nonnegative_fit fit(std::vector<bool>(2), 1);
  add(fit, {{0, 1}, {1, 1}}, {5});
  add(fit, {{0, 1}}, {2});
  auto const solution = fit.solve();
  CHECK(solution[0][0] == Approx(2).epsilon(1e-6));
  CHECK(solution[0][1] == Approx(3).epsilon(1e-6));
}

TEST_CASE("an unknown that would be negative is zero, and the others are best without it") {
  nonnegative_fit fit(std::vector<bool>(2), 1);
  add(fit, {{0, 1}, {1, 1}}, {1});
  add(fit, {{0, 1}}, {2});
  auto const solution = fit.solve();
  CHECK(solution[0][0] == Approx(1.5).epsilon(1e-6));
  CHECK(solution[0][1] == 0);
}

TEST_CASE("an unknown that may be negative becomes negative, and the other adapts to it") {
  nonnegative_fit fit({true, false}, 1);
  add(fit, {{0, 1}}, {-2});
  add(fit, {{0, 1}, {1, 1}}, {1});
  auto const solution = fit.solve();
  CHECK(solution[0][0] == Approx(-2).epsilon(1e-6));
  CHECK(solution[0][1] == Approx(3).epsilon(1e-6));
}

TEST_CASE("an unknown that is held at zero for one right side is free for the others") {
  nonnegative_fit fit({true, false}, 2);
  fit.hold_at_zero(1, 1);
  for (int i = 0; i < 3; ++i) add(fit, {{0, 1}, {1, 1}}, {5, 5});
  add(fit, {{0, 1}}, {2, 2});
  auto const solution = fit.solve();
  CHECK(solution[0][1] == Approx(3).epsilon(1e-6));
  CHECK(solution[1][0] == Approx(17. / 4).epsilon(1e-6));
  CHECK(solution[1][1] == 0);
}

TEST_CASE("identical columns have a huge inflation, and other columns a small one") {
  nonnegative_fit fit(std::vector<bool>(3), 1);
  for (int i = 0; i < 10; ++i) {
    add(fit, {{0, 1. + i % 3}, {1, 1. + i % 3}, {2, 1. * (i % 2)}}, {1. + i});
  }
  fit.solve();
  CHECK(fit.inflation(0) > 1e6);
  CHECK(fit.inflation(1) > 1e6);
  CHECK(fit.inflation(2) < 10);
}

TEST_CASE("no step with nonnegative unknowns reduces the residual") {
  std::mt19937 random(7);
  std::uniform_real_distribution<> uniform(-1, 1);
  constexpr std::uint32_t n = 30;
  std::vector<row> rows;
  std::vector<double> right;
  nonnegative_fit fit(std::vector<bool>(n), 1);
  for (int i = 0; i < 200; ++i) {
    row values;
    for (std::uint32_t j = 0; j < n; ++j)
      if (uniform(random) > 0) values.emplace_back(j, std::abs(uniform(random)));
    rows.push_back(values);
    right.push_back(uniform(random));
    add(fit, values, {right.back()});
  }
  auto const x = fit.solve()[0];
  std::vector<double> slope(n);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto rest = right[i];
    for (auto const& [j, a] : rows[i]) rest -= a * x[j];
    for (auto const& [j, a] : rows[i]) slope[j] += a * rest;
  }
  std::size_t zeros = 0;
  for (std::size_t j = 0; j < n; ++j) {
    INFO(j << ": " << x[j] << ", slope " << slope[j]);
    CHECK(x[j] >= 0);
    CHECK(slope[j] < 1e-5);                 // more of it would not help
    if (x[j] > 0) CHECK(slope[j] > -1e-5);  // nor would less
    zeros += x[j] == 0;
  }
  CHECK(zeros > 3);
}
