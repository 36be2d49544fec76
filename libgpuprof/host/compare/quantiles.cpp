// SPDX-License-Identifier: Apache-2.0
#include "host/compare/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gpuprof::compare {

/// Newton's method on the distribution itself: erfc is as exact as doubles are.
double normal_quantile(double probability) noexcept {
  auto const p = std::clamp(probability, 1e-300, 1 - 1e-16);
  auto const tail = std::min(p, 1 - p);
  auto const t = std::sqrt(-2 * std::log(tail));
  // Abramowitz and Stegun 26.2.23: to 4.5e-4, where Newton starts.
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

}  // namespace gpuprof::compare
