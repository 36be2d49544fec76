// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/planning/counter_library.hpp"

#include "base/nearest_name.hpp"
#include "guest/cupti/chip_name.hpp"

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

result<counter_library> counter_library::open() {
  auto cupti = load_cupti(0);
  if (!cupti) return error{cupti.message()};
  open_nvperf_host(*cupti);
  return counter_library(std::move(*cupti));
}

std::string chip_of_gpu(int ordinal, unsigned driver_major, int compute_major, int compute_minor) {
  if (auto const cupti = load_cupti(driver_major)) {
    auto name = chip_name(cupti->api, static_cast<std::size_t>(ordinal));
    if (!name.empty()) return name;
  }
  return std::string(chip_of_compute_capability(compute_major, compute_minor));
}

}  // namespace gpuprof::guest
