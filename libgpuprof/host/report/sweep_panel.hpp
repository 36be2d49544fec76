// SPDX-License-Identifier: Apache-2.0
// Draws one panel of a sweep picture: a value over size, with roofs and plateau.
#pragma once

#include "host/analysis/sweep/sweep_points.hpp"
#include "host/report/svg_canvas.hpp"
#include "host/report/sweep_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::report {

/// The axes of a sweep picture: sizes from left to right, rates from bottom to top.
namespace sweep_plot {
inline constexpr double left = 86, right = 930, inset = 34;
}  // namespace sweep_plot

/// Logarithmic if all sizes are above 0, else linear; categories have equal distances.
class sweep_x_axis {
 public:
  explicit sweep_x_axis(std::span<sweep_point const> points) {
    bool const sizes = has_sizes(points);
    bool const positive = sizes && std::all_of(points.begin(), points.end(),
                                               [](auto const& p) { return *p.size > 0; });
    for (std::size_t i = 0; i < points.size(); ++i)
      places_.push_back(positive ? std::log10(*points[i].size)
                        : sizes  ? *points[i].size
                                 : static_cast<double>(i));
    if (places_.empty()) return;
    auto const [least, greatest] = std::minmax_element(places_.begin(), places_.end());
    auto const begin = sweep_plot::left + sweep_plot::inset;
    auto const end = sweep_plot::right - sweep_plot::inset;
    auto const first = *least, width = *greatest - *least;
    for (auto& place : places_)
      place = width > 0 ? begin + (place - first) / width * (end - begin) : (begin + end) / 2;
  }
  double x(std::size_t point) const { return places_[point]; }

 private:
  std::vector<double> places_;
};

/// A linear axis begins at 0 and has round steps; a logarithmic one shows decades.
class sweep_y_axis {
 public:
  /// `unit` is the value of 1 on the axis.
  static sweep_y_axis linear(double greatest, double unit, double top, double bottom) {
    auto const step = nice_step(greatest / unit / 5);
    return {0, greatest / unit * 1.06, step, unit, false, top, bottom};
  }
  static sweep_y_axis logarithmic(double least, double greatest, double unit, double top,
                                  double bottom) {
    auto const first = std::floor(std::log10(least / unit));
    auto const last = std::max(std::ceil(std::log10(greatest / unit)), first + 1);
    return {first, last, std::max(1.0, std::ceil((last - first) / 6)), unit, true, top, bottom};
  }

  double y(double value) const {
    auto const place = is_log_ ? std::log10(value / unit_) : value / unit_;
    auto const share = (place - first_) / (last_ - first_);
    return bottom_ - std::clamp(share, 0.0, 1.0) * (bottom_ - top_);
  }
  /// Returns pairs of the value in the axis' unit and its position.
  std::vector<std::pair<double, double>> ticks() const {
    std::vector<std::pair<double, double>> out;
    for (int i = 0; first_ + i * step_ <= last_ * (1 + 1e-9) && i < 20; ++i) {
      auto const place = first_ + i * step_;
      auto const value = is_log_ ? std::pow(10, place) : place;
      out.emplace_back(value, y(value * unit_));
    }
    return out;
  }
  double top() const { return top_; }
  double bottom() const { return bottom_; }

 private:
  sweep_y_axis(double first, double last, double step, double unit, bool is_log, double top,
               double bottom)
      : first_(first),
        last_(last),
        step_(step),
        unit_(unit),
        top_(top),
        bottom_(bottom),
        is_log_(is_log) {}
  /// Returns the smallest of 1, 2 or 5 times a power of ten that is not below `least`.
  static double nice_step(double least) {
    auto const decade = std::pow(10, std::floor(std::log10(std::clamp(least, 1e-30, 1e30))));
    for (double const of : {1.0, 2.0, 5.0})
      if (of * decade >= least * 0.999) return of * decade;
    return 10 * decade;
  }

  double first_, last_, step_, unit_, top_, bottom_;
  bool is_log_;
};

/// Returns the values to draw: FLOP, bytes, or the time of a call (none) if no rate is known.
std::vector<sweep_figure> panels_of(sweep const& of);

class sweep_panel {
 public:
  /// The references must outlive the panel.
  sweep_panel(sweep const& of, sweep_figure figure, sweep_x_axis const& x, double top,
              double bottom);

  /// `places_of_note` adds lines where the plateau is reached, where the roof is left and where the
  /// bound changes.
  void draw(svg_canvas& out, bool places_of_note) const;

 private:
  struct level {
    double value = 0;
    std::string name, color, style;
    bool spans_all = true;  // else it spans only the plateau
  };
  std::optional<double> value_of(std::size_t point) const;
  std::optional<value_range> range_of(std::size_t point) const;
  std::string text_of(double value) const;
  std::vector<level> roofs() const;
  std::vector<level> levels() const;
  double greatest_value() const;
  double greatest_shown() const;  // of values and roofs together
  sweep_y_axis axis_between(double top, double bottom) const;
  void draw_grid(svg_canvas& out) const;
  void draw_plateau(svg_canvas& out) const;
  void draw_levels(svg_canvas& out) const;
  void draw_places(svg_canvas& out) const;
  void draw_points(svg_canvas& out) const;
  std::string about(std::size_t point) const;

  sweep const& of_;
  sweep_figure figure_;
  sweep_x_axis const& x_;
  std::string unit_;
  sweep_y_axis y_;
};

}  // namespace gpuprof::host::report
