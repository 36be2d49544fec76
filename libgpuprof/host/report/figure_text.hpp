// SPDX-License-Identifier: Apache-2.0
// Figures as cells of a table show them; nothing for one that is missing.
#pragma once

#include "host/report/peaks_words.hpp"

#include <cstdio>
#include <optional>
#include <string>

namespace gpuprof::report {

/// `format`: of one double, which is `value * scale`.
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

}  // namespace gpuprof::report
