// SPDX-License-Identifier: Apache-2.0
// The parts of the roofline chart: its axes, the roofs to draw, their lines and names, and the
// words and colors of kernels, bounds and rates.
#pragma once

#include "host/analysis/roofline.hpp"
#include "host/report/svg_canvas.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::report {

// Words and colors of the roofline chart, for kernels, bounds and rates.

/// Returns the first `characters` characters on one line: the beginning distinguishes kernels best.
std::string beginning_of(std::string_view name, std::size_t characters);

/// Returns the name of a kernel without return type, parameters and namespaces, as far as it fits,
/// and its share of the time.
std::string label_of(roofline_row const& line);

/// In SVG notation: "#0b6fb8".
char const* color_of(bound_by const& bound) noexcept;
/// Returns "tensor cores", "DRAM". Bounds with the same color have the same word.
std::string legend_of(bound_by const& bound);

/// "957 TFLOP/s", "4.63 TB/s"
std::string rate_text(double flops);
std::string byte_rate_text(double bytes);

/// Position of the plot in the picture.
namespace plot {
inline constexpr double left = 86, right = 950, top = 92, bottom = 640;
}  // namespace plot

/// The logarithmic axes of the plot.
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
  /// The first and last decade of an axis, rounded down.
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
  /// Clamped, because a damaged file may hold any value.
  static double exponent(double value) { return std::log10(std::clamp(value, 1e-30, 1e30)); }

  double x1_, x0_, y1_, y0_;
};

struct compute_roof {
  std::string name;
  std::optional<double> measured, theory;  // FLOP per second; at least one is set
};

struct memory_roof {
  std::string name;
  std::optional<double> measured, theory;  // bytes per second
  char const* color = "";
};

struct roofline_roofs {
  std::vector<memory_roof> memory;
  std::vector<compute_roof> compute;  // those with a measured peak come first, the highest first
};

/// Returns the DRAM and L2 roofs, and the peaks of the precisions in which a line has work.
roofline_roofs roofs_of(std::span<roofline_row const> lines, measured_roofs const& peaks);

/// Draws the roofs. The references must outlive it.
class roof_drawing {
 public:
  roof_drawing(roofline_roofs const& roofs, roofline_axes const& axes, label_room& room,
               svg_canvas& out)
      : roofs_(roofs), axes_(axes), room_(room), out_(out) {}

  /// Memory roofs rise to the highest compute roof; compute roofs begin where they meet DRAM or L2.
  /// Returns how far down the names right of the plot extend.
  double draw();

 private:
  double highest_compute() const;
  void draw_memory_roofs(double ceiling);
  void draw_compute_roofs();
  void memory_line(double bytes, double ceiling, std::string const& style);
  void name_memory_roofs(double ceiling);
  void name_along(memory_roof const& roof, double bytes, double ceiling);
  double name_compute_roofs();

  roofline_roofs const& roofs_;
  roofline_axes const& axes_;
  label_room& room_;
  svg_canvas& out_;
};

}  // namespace gpuprof::host::report
