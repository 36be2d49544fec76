// SPDX-License-Identifier: Apache-2.0
#include "base/readable.hpp"

#include <algorithm>
#include <cstdio>

namespace gpuprof {
namespace {

std::string number(char const* format, double value, char const* unit) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return std::string(text) + " " + unit;
}

/// Returns "copy" for "copies".
std::string singular(std::string word) {
  auto const replace_end = [&](std::string_view plural, std::string_view by) {
    if (!word.ends_with(plural)) return false;
    word.replace(word.size() - plural.size(), plural.size(), by);
    return true;
  };
  if (!replace_end("ies", "y") && !replace_end("ches", "ch")) replace_end("s", "");
  return word;
}

}  // namespace

std::string readable_time(double nanoseconds) {
  if (nanoseconds < 1e3) return number("%.0f", nanoseconds, "ns");
  if (nanoseconds < 1e6) return number("%.3g", nanoseconds / 1e3, "us");
  if (nanoseconds < 1e9) return number("%.4g", nanoseconds / 1e6, "ms");
  return number("%.3f", nanoseconds / 1e9, "s");
}

std::string readable_bytes(double bytes) {
  if (bytes < 1e3) return number("%.0f", bytes, "B");
  if (bytes < 1e6) return number("%.3g", bytes / 1e3, "kB");
  if (bytes < 1e9) return number("%.3g", bytes / 1e6, "MB");
  return number("%.2f", bytes / 1e9, "GB");
}

std::string readable_count(std::uint64_t count) {
  auto digits = std::to_string(count);
  for (auto at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string counted(std::uint64_t count, std::string_view plural) {
  auto text = readable_count(count) + " ";
  if (count != 1) return text.append(plural);
  // The noun is the first word that ends in s: "kernels without time", "NVTX ranges".
  for (std::size_t begin = 0; begin < plural.size();) {
    auto const end = std::min(plural.find(' ', begin), plural.size());
    auto const word = plural.substr(begin, end - begin);
    if (word.ends_with('s'))
      return text.append(plural.substr(0, begin)) + singular(std::string(word)) +
             std::string(plural.substr(end));
    begin = end + 1;
  }
  return text.append(plural);
}

}  // namespace gpuprof
