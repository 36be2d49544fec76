// SPDX-License-Identifier: Apache-2.0
// The roofs of the roofline chart: which there are, their lines, and their names beside them.
#pragma once

#include "host/analysis/roofline.hpp"
#include "host/report/label_room.hpp"
#include "host/report/roofline_axes.hpp"
#include "host/report/svg_canvas.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::report {

struct compute_roof {
  std::string name;
  std::optional<double> measured, theory;  // FLOP per second; one of them is there
};

struct memory_roof {
  std::string name;
  std::optional<double> measured, theory;  // bytes per second
  char const* colour = "";
};

struct roofline_roofs {
  std::vector<memory_roof> memory;
  std::vector<compute_roof> compute;  // those with a measured peak first, the highest of them first
};

/// DRAM and L2, and the peaks of those precisions that a line has work in.
roofline_roofs roofs_of(std::span<roofline_row const> lines, measured_roofs const& peaks);

/// Draws them. The references must outlive it.
class roof_drawing {
 public:
  roof_drawing(roofline_roofs const& roofs, roofline_axes const& axes, label_room& room,
               svg_canvas& out)
      : roofs_(roofs), axes_(axes), room_(room), out_(out) {}

  /// Memory roofs rise to the highest compute roof; compute roofs begin where DRAM or L2 let them.
  /// Returns how far down the names right of the plot reach.
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

}  // namespace gpuprof::report
