// SPDX-License-Identifier: Apache-2.0
#include "host/compare/interval.hpp"
#include "host/compare/run_digest.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <random>

using namespace gpuprof::host::compare;

namespace {

template <class Next>
duration_series series_of(int count, Next next) {
  duration_series series;
  for (int i = 0; i < count; ++i) series.add(next(i));
  series.finish();
  return series;
}

bool is_near(double a, double b, double share) {
  return std::abs(a - b) <= share * std::abs(b);
}

}  // namespace

TEST_CASE("a series keeps few blocks for any number of launches, and the exact total") {
  auto const series = series_of(1'000'000, [](int i) { return 100.0 + i % 2; });
  CHECK(series.count() == 1'000'000);
  CHECK(series.total() == 100.5e6);
  CHECK(series.blocks().size() < duration_series::max_blocks);
  for (auto const mean : series.blocks()) CHECK(is_near(mean, 100.5, 0.01));
}

TEST_CASE("a launch that was held up counts only in the total") {
  auto const series = series_of(1000, [](int i) { return i == 500 ? 1e6 : 100.0; });
  CHECK(series.total() == 999 * 100.0 + 1e6);
  CHECK(series.clipped() == 1);
  CHECK(estimate_of(series).mean < 101);
}

TEST_CASE("a value that repeats another one counts in the total and not in the error") {
  duration_series measured, with_copies;
  for (int i = 0; i < 40; ++i) {
    measured.add(100 + i % 2);
    with_copies.add(100 + i % 2);
    for (int again = 0; again < 9; ++again) with_copies.add_again(100 + i % 2);
  }
  measured.finish();
  with_copies.finish();
  CHECK(with_copies.count() == 400);
  CHECK(with_copies.total() == 10 * measured.total());
  CHECK(estimate_of(with_copies).error == estimate_of(measured).error);
}

TEST_CASE("times that were taken from other launches have at least the error that this gives") {
  auto series = series_of(6400, [](int i) { return 100.0 + i % 2; });
  auto const measured = estimate_of(series);
  auto const total = series.total();
  series.owe({0.9 * total, 0.06 * total, 2, 5});
  CHECK(estimate_of(series).error == Approx(0.03));
  CHECK(estimate_of(series).fast_error == Approx(0.03));
  CHECK(estimate_of(series).freedom == 5);
  series.owe({0.2 * total, std::nullopt});  // one timed launch
  CHECK(estimate_of(series).error == Approx(0.2));
  CHECK(estimate_of(series).freedom == measured.freedom);
  series.owe({0.9 * total, measured.error * total / 2, 1, 5});
  CHECK(estimate_of(series).error == measured.error);
  CHECK(estimate_of(series).freedom == measured.freedom);
}

TEST_CASE("the first launch is a warm-up and not a repetition") {
  auto const series = series_of(8, [](int i) { return i == 0 ? 5000.0 : 100.0; });
  CHECK(estimate_of(series).mean == 100);
}

TEST_CASE("four repetitions are too few for an error") {
  CHECK_FALSE(estimate_of(series_of(4, [](int) { return 100.0; })).is_known());
  CHECK_FALSE(estimate_of({}).is_known());
}

TEST_CASE("the error of independent values equals the textbook error") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(100, 5);
  double sum = 0;
  for (int i = 0; i < 50; ++i)
    sum += estimate_of(series_of(6400, [&](int) { return normal(random); })).error;
  auto const expected = 0.05 / std::sqrt(6400);
  CHECK(sum / 50 > expected);
  CHECK(sum / 50 < 1.6 * expected);
}

TEST_CASE("the error grows if neighboring values are correlated") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  double wander = 0;
  auto const found = estimate_of(series_of(6400, [&](int) {
    wander = 0.99 * wander + normal(random);
    return 1000 + wander;
  }));
  // The mean of such a series is as unsure as that of 6400 / 199 independent values.
  auto const expected = std::sqrt(1 / (1 - 0.99 * 0.99)) / std::sqrt(6400 / 199.0) / 1000;
  CHECK(found.error > 0.5 * expected);
}

TEST_CASE("quantiles equal those of published tables") {
  CHECK(is_near(normal_quantile(0.975), 1.959964, 1e-5));
  CHECK(is_near(normal_quantile(0.0001), -3.719016, 1e-5));
  CHECK(is_near(student_two_sided(0.05, 1), 12.7062, 1e-4));
  CHECK(is_near(student_two_sided(0.05, 2), 4.30265, 1e-4));
  CHECK(is_near(student_two_sided(0.05, 4), 2.77645, 1e-3));
  CHECK(is_near(student_two_sided(0.001, 8), 5.04131, 1e-3));
  CHECK(is_near(student_two_sided(0.0005, 6), 6.78834, 2e-2));
  CHECK(is_near(student_two_sided(0.05, 1000), 1.96234, 1e-4));
}
