// SPDX-License-Identifier: Apache-2.0
// One panel of the picture of a sweep: a figure against size, with roofs and plateau.
#pragma once

#include "host/report/svg_canvas.hpp"
#include "host/report/sweep_axes.hpp"
#include "host/report/sweep_report.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::report {

/// What is drawn: FLOP, bytes; none: the time of a call, where no rate is known.
std::vector<sweep_figure> panels_of(sweep const& of);

class sweep_panel {
 public:
  /// The references must outlive it.
  sweep_panel(sweep const& of, sweep_figure figure, sweep_x_axis const& x, double top,
              double bottom);

  /// `places_of_note`: lines where the plateau is reached, the roof left and the bound changes.
  void draw(svg_canvas& out, bool places_of_note) const;

 private:
  struct level {
    double value = 0;
    std::string name, colour, style;
    bool spans_all = true;  // else only where the plateau is
  };
  std::optional<double> value_of(std::size_t point) const;
  std::optional<value_range> range_of(std::size_t point) const;
  std::string text_of(double value) const;
  std::vector<level> roofs() const;
  std::vector<level> levels() const;
  double greatest_value() const;
  double greatest_shown() const;  // of values and roofs
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

}  // namespace gpuprof::report
