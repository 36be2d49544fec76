// SPDX-License-Identifier: Apache-2.0
// Reads the points of a sweep from one capture.
#pragma once

#include "base/result.hpp"
#include "filter_options.hpp"
#include "host/analysis/roofline_row.hpp"
#include "host/analysis/sweep/sweep_points.hpp"
#include "model/measured_roofs.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gpuprof::host::command {

struct sweep_question {
  bool by_payload = false;
  std::string over;        // of a label its name, of a payload its field or nothing
  std::string range;       // empty: any
  filter_options filters;  // kernels and device
  range_scope scope{};
  /// Only of ranges are calls the ranges themselves.
  bool counts_ranges() const noexcept { return by_payload || !range.empty(); }
};

struct swept_capture {
  std::vector<sweep_point> points;
  std::vector<roofline_row> rows;  // of each point
  measured_roofs roofs;            // of the first GPU that has some
  std::string device, program;
  std::string range;               // as reports show it; empty: any
  std::vector<std::string> notes;  // what was lost, what was left out
};

/// An error: the capture says nothing to the question; `wrong_options`: no capture would.
struct sweep_failure {
  std::string message;
  bool wrong_options = false;
};
using swept_result = std::variant<swept_capture, sweep_failure>;

swept_result read_sweep(std::string const& path, sweep_question const& question);

}  // namespace gpuprof::host::command
