// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/planning/chips.hpp"

#include "base/nearest_name.hpp"

#include <algorithm>
#include <cctype>

namespace gpuprof::guest {

result<std::string> chip_named(std::string_view name, std::span<std::string const> chips) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (std::find(chips.begin(), chips.end(), upper) != chips.end()) return upper;
  auto line = "there is no chip '" + std::string(name) + "'";
  if (auto const nearest = nearest_name(upper, chips); !nearest.empty())
    line += ", did you mean " + nearest + "?";
  line += "; known are";
  for (auto const& chip : chips) line += ' ' + chip;
  return error{line};
}

std::string_view chip_of_compute_capability(int major, int minor) noexcept {
  struct known {
    int major, minor;
    std::string_view chip;
  };
  static constexpr known table[] = {
      {7, 0, "GV100"},  {7, 2, "GV11B"},  {7, 5, "TU102"},  {8, 0, "GA100"},  {8, 6, "GA102"},
      {8, 7, "GA10B"},  {8, 9, "AD102"},  {9, 0, "GH100"},  {10, 0, "GB100"}, {10, 1, "GB10B"},
      {10, 3, "GB110"}, {11, 0, "GB10B"}, {12, 0, "GB202"}, {12, 1, "GB20B"}};
  for (auto const& k : table)
    if (k.major == major && k.minor == minor) return k.chip;
  return {};
}

}  // namespace gpuprof::guest
