// SPDX-License-Identifier: Apache-2.0
// Words and number formats for reporting peaks.
#pragma once

#include "model/peaks.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::host::report {

/// A unit that keeps numbers short: "TFLOP/s" of 1e12 FLOP/s, "us" of 1e-6 s.
struct readable_unit {
  std::string name;
  double size = 1;
};
readable_unit unit_for_reading(std::string_view unit);

/// Some four digits: "0.512", "66.9", "989.4", "33450".
std::string short_number(double value);
/// Returns "98.5%" for 0.985.
std::string share_text(double share);

/// Converts NVML's clocks event reasons to "power, thermal"; empty if nothing limits.
std::string limit_words(std::uint64_t limiters);

/// Returns "Tensor cores" for "tensor_cores".
std::string group_title(std::string_view group);

/// Returns the title, or the test's name if it has none, with a remark if the operands were zeros.
std::string title_of(peak_result const& result);

/// Explains why there is no value, or what lowers it; empty if there is nothing to say.
std::string note_on(peak_result const& result);

/// Formats a value for a table cell; returns an empty text if the value is missing. `format` is for
/// one double, which is `value * scale`.
inline std::string fixed_text(std::optional<double> value, char const* format, double scale) {
  if (!value) return {};
  char text[64];
  std::snprintf(text, sizeof text, format, *value * scale);
  return text;
}

/// Returns "12.3" without a percent sign, because the column's name says that it is a percentage.
inline std::string percent_text(std::optional<double> share) {
  return fixed_text(share, "%.1f", 100);
}

/// Formats with few digits.
inline std::string scaled_text(std::optional<double> value, double scale) {
  if (!value) return {};
  return *value == 0 ? "0" : short_number(*value * scale);
}

/// From this share of a figure on, its error stands beside it.
inline bool is_very_unsure(double value, double error) {
  constexpr double shown_from = 0.2;
  return error > shown_from * std::abs(value);
}

/// Returns "±21", with two digits.
inline std::string error_text(double error) {
  char text[32];
  std::snprintf(text, sizeof text, error >= 99.5 ? "\u00b1%.0f" : "\u00b1%.2g", error);
  return text;
}

}  // namespace gpuprof::host::report
