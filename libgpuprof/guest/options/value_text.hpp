// SPDX-License-Identifier: Apache-2.0
// Reads the values of options from text. A function returns false if it does not accept the text;
// `out` is then unchanged.
#pragma once

#include "base/time.hpp"
#include "guest/options/settings.hpp"
#include "model/kernel_pattern.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::guest {

template <class Number>
bool read_number(Number& out, std::string_view text, Number min, Number max) {
  Number value{};
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return false;
  if (value < min || value > max) return false;
  out = value;
  return true;
}

template <class Value, std::size_t N>
bool read_word(Value& out, std::string_view text,
               std::array<std::pair<std::string_view, Value>, N> const& words) {
  auto const found = std::find_if(words.begin(), words.end(),
                                  [&](auto const& word) { return word.first == text; });
  if (found == words.end()) return false;
  out = found->second;
  return true;
}

/// Returns at least one part. Parts may be empty.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Accepts 0 to 1e9, with or without a fraction.
bool read_seconds(duration_ns& out, std::string_view text);
/// Accepts 1, 0, true, false, yes, no, on, off.
bool read_switch(bool& out, std::string_view text);
/// Accepts a number with or without a percent sign.
bool read_percent(double& out, std::string_view text, double min, double max);
/// Accepts ns, us or ms. A number without unit is in ns, as in Nsight Compute's option of this
/// name.
bool read_interval(std::uint64_t& out, std::string_view text, double min_ns, double max_ns);
/// Accepts bytes with k, M, G or T (powers of 1000) or Ki, Mi, Gi, Ti (powers of 1024), optionally
/// followed by B: 500M, 2GiB.
bool read_bytes(std::uint64_t& out, std::string_view text);
/// Accepts NAME, NAME@DOMAIN, NAME@*.
bool read_range_pattern(std::optional<range_pattern>& out, std::string_view text);
/// Accepts NAME=VALUE, separated by ',' or ';'. If a name has several values, the last one counts.
bool read_labels(std::vector<run_label>& out, std::string_view text);
/// Accepts kernel names and regular expressions, separated by ';'.
bool read_kernel_patterns(std::vector<kernel_pattern>& out, std::string_view text,
                          bool ignores_case);

}  // namespace gpuprof::guest
