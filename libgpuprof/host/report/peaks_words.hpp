// SPDX-License-Identifier: Apache-2.0
// The words and digits in which peaks are reported.
#pragma once

#include "model/peaks.hpp"

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
/// 0.985 as "98.5%".
std::string share_text(double share);

/// "power, thermal" of NVML's clocks event reasons; empty when nothing limits.
std::string limit_words(std::uint64_t limiters);

/// "Tensor cores" of "tensor_cores".
std::string group_title(std::string_view group);

/// The title, or the test's name when it has none; says when the operands were zeros.
std::string title_of(peak_result const& result);

/// Why there is no figure, or what lessens it; empty: nothing to say.
std::string note_on(peak_result const& result);

/// A figure as a cell of a table shows it; nothing for one that is missing. `format`: of one
/// double, which is `value * scale`.
inline std::string fixed_text(std::optional<double> value, char const* format, double scale) {
  if (!value) return {};
  char text[64];
  std::snprintf(text, sizeof text, format, *value * scale);
  return text;
}

/// "12.3", without a sign of its own: the column's name says that it is a percentage.
inline std::string percent_text(std::optional<double> share) {
  return fixed_text(share, "%.1f", 100);
}

/// In few digits.
inline std::string scaled_text(std::optional<double> value, double scale) {
  if (!value) return {};
  return *value == 0 ? "0" : short_number(*value * scale);
}

}  // namespace gpuprof::host::report
