// SPDX-License-Identifier: Apache-2.0
// The plot of the roofline chart: its place in the picture, its logarithmic axes.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gpuprof::report {

namespace plot {
inline constexpr double left = 86, right = 950, top = 92, bottom = 640;
}  // namespace plot

class roofline_axes {
 public:
  roofline_axes(double least_x, double greatest_x, double least_y, double greatest_y)
      : x1_(exponent(greatest_x)),
        x0_(std::min(exponent(least_x), x1_ - 3)),
        y1_(exponent(greatest_y)),
        y0_(std::min(exponent(least_y), y1_ - 3)) {}

  double x(double value) const {
    return plot::left + (std::log10(value) - x0_) / (x1_ - x0_) * (plot::right - plot::left);
  }
  double y(double value) const {
    return plot::bottom - (std::log10(value) - y0_) / (y1_ - y0_) * (plot::bottom - plot::top);
  }
  double least_x() const { return std::pow(10, x0_); }
  double greatest_x() const { return std::pow(10, x1_); }
  double least_y() const { return std::pow(10, y0_); }
  /// The decades that begin at or before the first and the last place of an axis.
  int first_x() const { return static_cast<int>(std::floor(x0_)); }
  int last_x() const { return static_cast<int>(std::floor(x1_)); }
  int first_y() const { return static_cast<int>(std::floor(y0_)); }
  int last_y() const { return static_cast<int>(std::floor(y1_)); }
  double slope_angle() const {
    return -std::atan2((plot::bottom - plot::top) / (y1_ - y0_),
                       (plot::right - plot::left) / (x1_ - x0_)) *
           180 / std::numbers::pi;
  }

 private:
  /// Whatever a damaged file may hold.
  static double exponent(double value) { return std::log10(std::clamp(value, 1e-30, 1e30)); }

  double x1_, x0_, y1_, y0_;
};

}  // namespace gpuprof::report
