// SPDX-License-Identifier: Apache-2.0
// Which ranges of a capture carry which value in their NVTX payload.
#pragma once

#include "base/result.hpp"
#include "host/analysis/selection.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

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

}  // namespace gpuprof::host::command
