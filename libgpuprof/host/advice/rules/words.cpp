// SPDX-License-Identifier: Apache-2.0
#include "host/advice/rules/words.hpp"

#include <cstdio>

namespace gpuprof::advise {
namespace {

std::string with_unit(double value, char const* unit) {
  char text[40];
  std::snprintf(text, sizeof text, value < 9.95 ? "%.1f %s" : "%.0f %s", value, unit);
  return text;
}

}  // namespace

std::string in_time(double ns) {
  if (ns < 1e3) return with_unit(ns, "ns");
  if (ns < 1e6) return with_unit(ns / 1e3, "us");
  if (ns < 1e9) return with_unit(ns / 1e6, "ms");
  return with_unit(ns / 1e9, "s");
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
  return count == 1 ? "once" : in_count(static_cast<double>(count)) + " times";
}

}  // namespace gpuprof::advise
