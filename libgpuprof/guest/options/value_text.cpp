// SPDX-License-Identifier: Apache-2.0
#include "guest/options/value_text.hpp"

#include <cmath>
#include <regex>
#include <string>

namespace gpuprof::guest {
namespace {

bool is_regex(std::string const& text) {
  try {
    // The flag rejects back references, which kernel_filter's matcher does not support.
    [[maybe_unused]] std::regex const compiled(
        text, std::regex::ECMAScript | std::regex_constants::__polynomial);
    return true;
  } catch (std::regex_error const&) {
    return false;
  }
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool read_seconds(duration_ns& out, std::string_view text) {
  double seconds = 0;
  if (!read_number(seconds, text, 0.0, 1e9) || !std::isfinite(seconds)) return false;
  out.value = std::llround(seconds * 1e9);
  return true;
}

bool read_switch(bool& out, std::string_view text) {
  constexpr std::array<std::string_view, 4> on{"1", "true", "yes", "on"};
  constexpr std::array<std::string_view, 4> off{"0", "false", "no", "off"};
  auto const is_one_of = [&](auto const& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
  };
  if (!is_one_of(on) && !is_one_of(off)) return false;
  out = is_one_of(on);
  return true;
}

bool read_percent(double& out, std::string_view text, double min, double max) {
  if (text.ends_with('%')) text.remove_suffix(1);
  double percent = 0;
  if (!read_number(percent, text, min, max) || !std::isfinite(percent)) return false;
  out = percent;
  return true;
}

bool read_interval(std::uint64_t& out, std::string_view text, double min_ns, double max_ns) {
  double unit = 1;
  if (text.ends_with("us"))
    unit = 1e3;
  else if (text.ends_with("ms"))
    unit = 1e6;
  if (unit != 1 || text.ends_with("ns")) text.remove_suffix(2);
  double number = 0;
  if (!read_number(number, text, min_ns / unit, max_ns / unit)) return false;
  if (!std::isfinite(number)) return false;
  out = static_cast<std::uint64_t>(std::llround(number * unit));
  return true;
}

bool read_bytes(std::uint64_t& out, std::string_view text) {
  constexpr std::string_view units = "kMGT";
  constexpr double max_bytes = 1e18;
  if (text.ends_with('B')) text.remove_suffix(1);
  auto const base = text.ends_with('i') ? 1024.0 : 1000.0;
  if (text.ends_with('i')) text.remove_suffix(1);
  auto const unit = text.empty() ? units.npos : units.find(text.back() == 'K' ? 'k' : text.back());
  if (unit == units.npos && base == 1024.0) return false;
  double factor = 1;
  if (unit != units.npos) {
    text.remove_suffix(1);
    factor = std::pow(base, static_cast<double>(unit + 1));
  }
  double number = 0;
  if (!read_number(number, text, 0.0, max_bytes / factor) || !std::isfinite(number)) return false;
  out = static_cast<std::uint64_t>(number * factor);
  return true;
}

bool read_range_pattern(std::optional<range_pattern>& out, std::string_view text) {
  auto const at = text.rfind('@');
  range_pattern pattern;
  pattern.name = text.substr(0, at);
  if (at != std::string_view::npos) {
    pattern.domain = text.substr(at + 1);
    if (pattern.domain.empty()) return false;
    if (pattern.domain == "*") pattern = {pattern.name, "", true};
  }
  if (pattern.name.empty()) return false;
  out = std::move(pattern);
  return true;
}

bool read_labels(std::vector<run_label>& out, std::string_view text) {
  constexpr std::string_view of_names =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  std::vector<run_label> labels;
  for (auto const part : split(text, ';')) {
    for (auto const label : split(part, ',')) {
      auto const equals = label.find('=');
      auto const name = label.substr(0, equals);
      if (equals == label.npos || equals + 1 == label.size() || name.empty() ||
          name.find_first_not_of(of_names) != name.npos)
        return false;
      std::erase_if(labels, [&](run_label const& earlier) { return earlier.name == name; });
      labels.push_back({std::string(name), std::string(label.substr(equals + 1))});
    }
  }
  out = std::move(labels);
  return true;
}

bool read_kernel_patterns(std::vector<kernel_pattern>& out, std::string_view text,
                          bool ignores_case) {
  std::vector<kernel_pattern> patterns;
  for (auto part : split(text, ';')) {
    auto pattern = kernel_pattern_of(part);
    pattern.ignores_case = pattern.is_regex && ignores_case;
    if (pattern.text.empty() || (pattern.is_regex && !is_regex(pattern.text))) return false;
    patterns.push_back(std::move(pattern));
  }
  out = std::move(patterns);
  return true;
}

}  // namespace gpuprof::guest
