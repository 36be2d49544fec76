// SPDX-License-Identifier: Apache-2.0
#include "host/report/advice_words.hpp"

#include "base/readable.hpp"
#include "host/advice/advice.hpp"
#include "host/advice/rule.hpp"
#include "host/report/owned_rows.hpp"
#include "text/padding.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace gpuprof::host::report {
namespace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// So many that the greater figure has three.
int digits_for(double greater) noexcept {
  return greater >= 100 ? 0 : greater >= 10 ? 1 : 2;
}

struct unit_of_time {
  double ns;
  std::string_view name;
};

unit_of_time unit_for(double ns) noexcept {
  if (ns < 1e3) return {1, "ns"};
  if (ns < 1e6) return {1e3, "us"};
  if (ns < 1e9) return {1e6, "ms"};
  return {1e9, "s"};
}

/// "0 to 4.04 s": nothing needs no digits behind the point.
std::string from_to(double low, double high, int digits, std::string_view unit) {
  auto const lower = low > 0 ? fixed(low, digits) : "0", higher = fixed(high, digits);
  auto const is_one = lower == higher || (low <= 0 && high <= 0);
  return (is_one ? higher : lower + " to " + higher) + " " + std::string(unit);
}

/// Few digits, thousands separators, no exponent where it can be read without.
std::string plain_number(double value) {
  if (std::abs(value) >= 1000 && std::abs(value) < 1e15)
    return (value < 0 ? "-" : "") +
           readable_count(static_cast<std::uint64_t>(std::llround(std::abs(value))));
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// "1,830 MHz", "95.7 TFLOP/s".
std::string with_prefix(double value, std::string const& unit) {
  constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t at = 0;
  for (; value >= 2000 && at + 1 < std::size(prefixes); ++at) value /= 1000;
  return plain_number(value) + " " + std::string(prefixes[at]) + unit;
}

std::string needs_of(advice::rule const& rule) {
  std::string text;
  for (auto const& name : advice::names_of(rule.needs)) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::string_view key_of(time_bucket bucket) noexcept {
  static constexpr std::array<std::string_view, time_bucket_count> keys = {
      "compute",         "compute_and_communication",
      "communication",   "transfer",
      "back_to_back",    "dependency",
      "synchronization", "allocation",
      "module_load",     "graph_build",
      "launch_bound",    "data_loading",
      "between_steps",   "cpu_work",
      "host_unknown",    "start_up",
      "nothing_to_do",   "profiler"};
  return keys[static_cast<std::size_t>(bucket)];
}

std::string_view name_of(advice::severity level) noexcept {
  return level == advice::severity::info ? "info" : "warning";
}

std::string_view group_of(std::string_view rule) noexcept {
  auto const* const known = advice::find_rule(rule);
  return known != nullptr ? name_of(known->group) : std::string_view();
}

std::string time_interval(advice::interval const& ns) {
  auto const unit = unit_for(ns.high);
  auto const digits = unit.ns == 1 ? 0 : digits_for(ns.high / unit.ns);
  return from_to(ns.low / unit.ns, ns.high / unit.ns, digits, unit.name);
}

std::string share_interval(advice::interval const& share) {
  return from_to(100 * share.low, 100 * share.high, 1, "%");
}

std::string percent(double share) {
  return fixed(100 * share, 1) + " %";
}

std::string evidence_words(advice::evidence const& one) {
  auto text = one.name + " ";
  if (one.unit == "ns")
    text += readable_time(one.value);
  else if (one.unit == "B" || one.unit == "bytes")
    text += readable_bytes(one.value);
  else if (one.unit == "B/s")
    text += readable_bytes(one.value) + "/s";
  else if (one.unit == "Hz" || one.unit == "FLOP/s")
    text += with_prefix(one.value, one.unit);
  else
    text += plain_number(one.value) + (one.unit.empty() ? "" : " " + one.unit);
  return one.source.empty() ? text : text + " (" + one.source + ")";
}

text::table rules_table(std::span<advice::rule const* const> rules) {
  owned_rows rows;
  for (auto const* rule : rules)
    rows.rows.push_back(
        {rule->name, name_of(rule->group), rows.keep(needs_of(*rule)), rule->question});
  return table_of("rules", "Rules", {{"Rule"}, {"Group"}, {"Needs"}, {"Question"}},
                  std::move(rows));
}

std::string rule_description(advice::rule const& rule, std::size_t width) {
  constexpr std::size_t indent = 12;
  std::string text;
  auto const add = [&](std::string_view label, std::string_view what) {
    if (what.empty()) return;
    std::string line;
    text::append_padded(line, label, indent, false);
    text += text::wrapped(line + std::string(what), width, indent) + "\n";
  };
  add("rule", rule.name);
  add("group", name_of(rule.group));
  add("question", rule.question);
  add("needs", needs_of(rule));
  add("recorded by", advice::how_to_record(rule.needs));
  add("fires at", rule.fires_at);
  add("gain", rule.gain);
  add("ignores", rule.ignores);
  add("next", rule.next);
  return text;
}

}  // namespace gpuprof::host::report
