// SPDX-License-Identifier: Apache-2.0
// Reads the points of a sweep from one capture: by its kernels, its ranges, or the values in their
// NVTX payload.
#pragma once

#include "base/result.hpp"
#include "filter_options.hpp"
#include "host/analysis/roofline_row.hpp"
#include "host/analysis/selection.hpp"
#include "host/analysis/sweep/sweep_points.hpp"
#include "host/reading/trace_contents.hpp"
#include "model/measured_roofs.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpuprof::host::command {

// Which ranges of a capture carry which value in their NVTX payload.

/// Ranges of a capture, divided.
struct range_groups {
  std::vector<std::string> labels;       // by group
  std::vector<std::uint32_t> of_ranges;  // by index in the range tree; no_range: in no group
  std::string name;                      // of the ranges, as reports show it
};

/// The values in the JSON of a payload: {"shape": {"m": 8}} has "shape.m"; what is no object has
/// one without a name. Empty where the text is no JSON.
std::vector<std::pair<std::string, std::string>> payload_fields(std::string_view json);

/// By the number or text of a field, the whole name or its last part; empty: by the payload that is
/// one value. Of the ranges that are asked for, else of those of the one name that has payloads.
result<range_groups> groups_by_payload(trace_contents& trace,
                                       std::optional<range_expression> const& ranges,
                                       std::string const& field);

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
