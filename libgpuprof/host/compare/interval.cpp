// SPDX-License-Identifier: Apache-2.0
#include "host/compare/interval.hpp"

#include "host/compare/quantiles.hpp"
#include "host/compare/rank_interval.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpuprof::compare {
namespace {

using runs = std::vector<observations::run>;

/// How much the usual variance counts, in degrees of freedom: two or three runs say little about
/// theirs alone, and the kernels of a program are disturbed by much the same.
constexpr double usual_freedom = 4;
constexpr std::size_t max_runs_named = 100;

double mean_of(runs const& side) {
  double sum = 0;
  for (auto const& run : side) sum += run.value;
  return sum / static_cast<double>(side.size());
}

double squares_about_mean(runs const& side) {
  auto const mean = mean_of(side);
  double sum = 0;
  for (auto const& run : side) sum += (run.value - mean) * (run.value - mean);
  return sum;
}

double freedom_between(observations const& of) {
  return static_cast<double>(of.base.size() + of.fresh.size()) - 2;
}

/// As the repetitions within runs have it: runs cannot lie closer than this but by chance.
double variance_within(observations const& of) {
  double sum = 0;
  for (auto const* side : {&of.base, &of.fresh})
    for (auto const& run : *side) sum += run.error * run.error;
  return sum / static_cast<double>(of.base.size() + of.fresh.size());
}

interval of_repetitions(observations const& of, double alpha) {
  auto const &a = of.base.front(), &b = of.fresh.front();
  interval found{b.value - a.value, 0, 0, noise_source::none};
  if (a.freedom <= 0 || b.freedom <= 0) return found;
  auto const va = a.error * a.error, vb = b.error * b.error;
  auto const sum = va + vb;
  auto const freedom =
      sum > 0 ? sum * sum / (va * va / a.freedom + vb * vb / b.freedom) : a.freedom;  // Welch
  auto const half = std::hypot(student_two_sided(alpha, freedom) * std::sqrt(sum), of.floor);
  return {found.estimate, found.estimate - half, found.estimate + half, noise_source::repetitions};
}

struct assumed_variance {
  double value = 0, freedom = 0;
};

assumed_variance variance_of(observations const& of) {
  auto const between = variance_between_runs(of);
  auto freedom = freedom_between(of);
  auto value = between.value_or(0);
  if (of.usual_variance > 0) {
    value = (value * freedom + of.usual_variance * usual_freedom) / (freedom + usual_freedom);
    freedom += usual_freedom;
  }
  return {std::max(value, variance_within(of)), freedom};
}

interval of_student(observations const& of, double alpha) {
  auto const estimate = mean_of(of.fresh) - mean_of(of.base);
  auto const variance = variance_of(of);
  auto const share =
      1 / static_cast<double>(of.base.size()) + 1 / static_cast<double>(of.fresh.size());
  auto const half = student_two_sided(alpha, variance.freedom) * std::sqrt(variance.value * share);
  return {estimate, estimate - half, estimate + half, noise_source::student};
}

}  // namespace

std::string_view name_of(noise_source from) noexcept {
  switch (from) {
    case noise_source::none:
      return "too few repetitions";
    case noise_source::repetitions:
      return "repetitions within one run a side";
    case noise_source::student:
      return "Student's t over runs";
    case noise_source::mann_whitney:
      return "Mann-Whitney over runs";
  }
  return "";
}

std::optional<double> variance_between_runs(observations const& of) {
  auto const freedom = freedom_between(of);
  if (freedom < 1) return std::nullopt;
  return (squares_about_mean(of.base) + squares_about_mean(of.fresh)) / freedom;
}

interval interval_of(observations const& of, double alpha) {
  if (of.base.empty() || of.fresh.empty()) return {};
  if (of.is_single()) return of_repetitions(of, alpha);
  std::vector<double> base, fresh;
  for (auto const& run : of.base) base.push_back(run.value);
  for (auto const& run : of.fresh) fresh.push_back(run.value);
  if (auto const ranks = rank_interval(base, fresh, alpha))
    return {ranks->estimate, ranks->low, ranks->high, noise_source::mann_whitney};
  return of_student(of, alpha);
}

std::size_t runs_needed(observations const& of, double alpha, double target) {
  if (of.base.empty() || of.fresh.empty() || target <= 0) return 0;
  constexpr double usual = 1.96;  // the floor is what two runs differ by in 19 of 20 cases
  auto const variance = of.is_single()
                            ? of.floor * of.floor / (2 * usual * usual) + variance_within(of)
                            : variance_of(of).value;
  for (std::size_t runs = 2; runs <= max_runs_named; ++runs) {
    auto const n = static_cast<double>(runs);
    if (student_two_sided(alpha, 2 * n - 2) * std::sqrt(2 * variance / n) <= target) return runs;
  }
  return 0;
}

}  // namespace gpuprof::compare
