// SPDX-License-Identifier: Apache-2.0
#include "host/compare/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <vector>

namespace gpuprof::host::compare {
namespace {

/// P(U = u) without ties: above the n-th value of the second sample are 0 to m of the first, never
/// fewer than above the previous one.
std::vector<double> distribution_of_u(std::size_t m, std::size_t n) {
  std::vector<double> counts(m * n + 1);
  counts[0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {  // times (1 - q^(m+i)) / (1 - q^i)
    for (auto u = counts.size(); u-- > m + i;) counts[u] -= counts[u - m - i];
    for (auto u = i; u < counts.size(); ++u) counts[u] += counts[u - i];
  }
  double all = 0;
  for (auto const count : counts) all += count;
  for (auto& count : counts) count /= all;
  return counts;
}

constexpr std::size_t max_exact = 25;  // above this, counts do not fit a double exactly

/// Returns how many sorted differences are outside the interval at each end.
std::size_t differences_outside(std::size_t m, std::size_t n, double alpha) {
  if (std::max(m, n) > max_exact) {
    auto const pairs = static_cast<double>(m * n);
    auto const deviation = std::sqrt(pairs * static_cast<double>(m + n + 1) / 12);
    return static_cast<std::size_t>(
        std::max(0.0, pairs / 2 + normal_quantile(alpha / 2) * deviation));
  }
  auto const probabilities = distribution_of_u(m, n);
  std::size_t outside = 0;
  for (double below = probabilities[0]; below <= alpha / 2; below += probabilities[outside])
    ++outside;
  return outside;
}

using runs = std::vector<observations::run>;

/// Weight of the usual variance, in degrees of freedom: two or three runs say little about their
/// own variance, and the kernels of a program are disturbed in similar ways.
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

/// Variance from the repetitions within runs: runs can only be closer than this by chance.
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

/// Uses Newton's method on the distribution itself, because erfc has full double precision.
double normal_quantile(double probability) noexcept {
  auto const p = std::clamp(probability, 1e-300, 1 - 1e-16);
  auto const tail = std::min(p, 1 - p);
  auto const t = std::sqrt(-2 * std::log(tail));
  // Start value for Newton's method, exact to 4.5e-4: Abramowitz and Stegun 26.2.23.
  auto x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int i = 0; i < 4; ++i) {
    auto const above = std::erfc(x / std::numbers::sqrt2) / 2;
    auto const density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    if (density <= 0) break;
    x += (above - tail) / density;
  }
  return p < 0.5 ? -x : x;
}

double student_two_sided(double alpha, double degrees_of_freedom) noexcept {
  auto const n = std::max(1.0, degrees_of_freedom);
  auto const p = std::clamp(alpha, 1e-300, 1.0);
  if (n < 1.5) return 1 / std::tan(p * std::numbers::pi / 2);
  if (n < 2.5 && n > 1.5 && n == 2) return std::sqrt(2 / (p * (2 - p)) - 2);
  auto const a = 1 / (n - 0.5), b = 48 / (a * a);
  auto c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
  auto const d = ((94.5 / (b + c) - 3) / b + 1) * std::sqrt(a * std::numbers::pi / 2) * n;
  auto y = std::pow(d * p, 2 / n);
  if (y > 0.05 + a) {
    auto const x = normal_quantile(p / 2);
    y = x * x;
    if (n < 5) c += 0.3 * (n - 4.5) * (x + 0.6);
    c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c;
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
    y = std::expm1(a * y * y);
  } else {
    y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) *
            (n + 1) / (n + 2) +
        1 / y;
  }
  return std::sqrt(n * y);
}

std::optional<shift> rank_interval(std::span<double const> base, std::span<double const> fresh,
                                   double alpha) {
  if (base.empty() || fresh.empty()) return std::nullopt;
  auto const m = base.size(), n = fresh.size();
  auto const outside = differences_outside(m, n, alpha);
  if (outside == 0) return std::nullopt;
  std::vector<double> differences;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) differences.push_back(fresh[j] - base[i]);
  std::sort(differences.begin(), differences.end());
  auto const pairs = differences.size();
  return shift{(differences[pairs / 2] + differences[(pairs - 1) / 2]) / 2,
               differences[outside - 1], differences[pairs - outside]};
}

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
  constexpr double usual = 1.96;  // in 19 of 20 cases two runs differ by less than the floor
  auto const variance = of.is_single()
                            ? of.floor * of.floor / (2 * usual * usual) + variance_within(of)
                            : variance_of(of).value;
  for (std::size_t runs = 2; runs <= max_runs_named; ++runs) {
    auto const n = static_cast<double>(runs);
    if (student_two_sided(alpha, 2 * n - 2) * std::sqrt(2 * variance / n) <= target) return runs;
  }
  return 0;
}

namespace {

constexpr double trimmed_share = 0.1;  // at each end
constexpr std::size_t least_blocks = 16;

/// Keeps the order of `values` and clamps them to the range that is not trimmed.
double trimmed_mean(std::vector<double>& values) {
  auto const n = values.size();
  auto const cut = static_cast<std::size_t>(trimmed_share * static_cast<double>(n));
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  double sum = 0;
  for (std::size_t i = cut; i < n - cut; ++i) sum += sorted[i];
  for (auto& value : values) value = std::clamp(value, sorted[cut], sorted[n - 1 - cut]);
  return sum / static_cast<double>(n - 2 * cut);
}

/// Returns one standard error of the mean of `values`.
double error_of(std::vector<double> const& values) {
  double sum = 0, squares = 0;
  for (auto const value : values) sum += value;
  auto const n = static_cast<double>(values.size());
  for (auto const value : values) squares += (value - sum / n) * (value - sum / n);
  return std::sqrt(squares / (n * (n - 1)));
}

/// Times that were taken from other launches repeat, so their spread is too small.
void take_owed(duration_series const& durations, estimate& found) {
  auto const& owed = durations.owed();
  auto const error = owed_share(durations);
  found.fast_error = std::max(found.fast_error, error);
  if (error <= found.error) return;
  found.error = error;
  if (owed.error_ns) found.freedom = std::min(found.freedom, owed.freedom);
}

void halve(std::vector<double>& blocks) {
  auto const half = blocks.size() / 2;
  for (std::size_t i = 0; i < half; ++i) blocks[i] = (blocks[2 * i] + blocks[2 * i + 1]) / 2;
  blocks.resize(half);
}

}  // namespace

double owed_share(duration_series const& durations) {
  auto const& owed = durations.owed();
  if (!(owed.ns > 0) || !(durations.total() > 0)) return 0;
  return owed.error_ns.value_or(owed.ns) / owed.widened_by / durations.total();
}

estimate estimate_of(duration_series const& durations) {
  auto blocks = durations.blocks();
  if (blocks.size() < least_repetitions) return {durations.mean(), 0, 0, 0};
  estimate found;
  found.mean = trimmed_mean(blocks);
  if (found.mean <= 0) return {durations.mean(), 0, 0, 0};
  // Clamping reduces the spread by the share of values that are trimmed.
  auto const kept = blocks.size() >= 1 / trimmed_share ? 1 - 2 * trimmed_share : 1;
  auto const scale = 1 / (kept * found.mean);
  found.fast_error = found.error = scale * error_of(blocks);
  found.freedom = kept * static_cast<double>(blocks.size()) - 1;
  constexpr double usual = 0.05;
  auto widest = found.error * student_two_sided(usual, found.freedom);
  for (halve(blocks); blocks.size() >= least_blocks; halve(blocks)) {
    auto const error = scale * error_of(blocks);
    auto const freedom = static_cast<double>(blocks.size()) - 1;
    auto const width = error * student_two_sided(usual, freedom);
    if (width <= widest) continue;
    widest = width;
    found.error = error;
    found.freedom = freedom;
  }
  take_owed(durations, found);
  return found;
}

}  // namespace gpuprof::host::compare
