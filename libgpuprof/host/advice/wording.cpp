// SPDX-License-Identifier: Apache-2.0
#include "host/advice/wording.hpp"

#include <cmath>
#include <cstdio>
#include <span>

namespace gpuprof::host::advice {
namespace {

struct step {
  double least;
  char const* prefix;
};

std::string scaled(double value, std::span<step const> steps, std::string const& unit) {
  auto const* chosen = &steps.back();
  for (auto const& one : steps)
    if (std::abs(value) >= one.least) {
      chosen = &one;
      break;
    }
  return as_figure(value / chosen->least) + " " + chosen->prefix + unit;
}

std::string with_unit(double value, char const* unit) {
  char text[40];
  std::snprintf(text, sizeof text, value < 9.95 ? "%.1f %s" : "%.0f %s", value, unit);
  return text;
}

}  // namespace

std::string as_figure(double value) {
  auto const size = std::abs(value);
  auto const decimals = size >= 99.95 || size == std::round(size) ? 0
                        : size >= 9.995                           ? 1
                        : size >= 0.9995                          ? 2
                                                                  : 3;
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string as_rate(double per_second, std::string const& unit) {
  constexpr step steps[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};
  return scaled(per_second, steps, unit);
}

std::string as_text(extent3 extent) {
  auto text = std::to_string(extent.x);
  if (extent.y > 1 || extent.z > 1) text += " x " + std::to_string(extent.y);
  if (extent.z > 1) text += " x " + std::to_string(extent.z);
  return text;
}

std::string in_time(double ns) {
  if (ns < 1e3) return with_unit(ns, "ns");
  if (ns < 1e6) return with_unit(ns / 1e3, "us");
  if (ns < 1e9) return with_unit(ns / 1e6, "ms");
  return with_unit(ns / 1e9, "s");
}

std::string in_data(double bytes) {
  return with_unit(bytes / 1e6, "MB");
}

std::string in_rate(double bytes_a_second) {
  return with_unit(bytes_a_second / 1e9, "GB/s");
}

std::string in_percent(double share) {
  return with_unit(100 * share, "%");
}

std::string in_count(double count) {
  char text[40];
  std::snprintf(text, sizeof text, "%.0f", count);
  return text;
}

std::string in_times(std::uint64_t count) {
  if (count == 1) return "once";
  auto text = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text + " times";
}

}  // namespace gpuprof::host::advice
