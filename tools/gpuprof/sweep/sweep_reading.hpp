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

// Groups the ranges of a capture by a value in their NVTX payload.

/// Ranges of a capture, divided into groups.
struct range_groups {
  std::vector<std::string> labels;       // by group
  std::vector<std::uint32_t> of_ranges;  // by index in the range tree; no_range: in no group
  std::string name;                      // name of the ranges, as in reports
};

/// Returns the values in the JSON of a payload: {"shape": {"m": 8}} has "shape.m"; a value that is
/// not an object has an empty name. Empty if the text is not JSON.
std::vector<std::pair<std::string, std::string>> payload_fields(std::string_view json);

/// Groups by the number or text of a field, given by its whole name or its last part; if empty, by
/// a payload that is a single value. Uses the requested ranges, or else those of the only name that
/// has payloads.
result<range_groups> groups_by_payload(trace_contents& trace,
                                       std::optional<range_expression> const& ranges,
                                       std::string const& field);

struct sweep_question {
  bool by_payload = false;
  std::string over;        // name of the label, or field of the payload (may be empty)
  std::string range;       // empty: any
  filter_options filters;  // kernels and device
  range_scope scope{};
  /// If ranges are counted, each range is a call.
  bool counts_ranges() const noexcept { return by_payload || !range.empty(); }
};

struct swept_capture {
  std::vector<sweep_point> points;
  std::vector<roofline_row> rows;  // one per point
  measured_roofs roofs;            // of the first GPU that has roofs
  std::string device, program;
  std::string range;               // name as in reports; empty: any
  std::vector<std::string> notes;  // what was lost or left out
};

/// The capture does not answer the question. If `wrong_options` is set, no capture would.
struct sweep_failure {
  std::string message;
  bool wrong_options = false;
};
using swept_result = std::variant<swept_capture, sweep_failure>;

swept_result read_sweep(std::string const& path, sweep_question const& question);

}  // namespace gpuprof::host::command
