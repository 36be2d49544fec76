// SPDX-License-Identifier: Apache-2.0
#include "host/report/advice_words.hpp"

#include "base/readable.hpp"
#include "host/advice/advice.hpp"
#include "host/advice/rule.hpp"
#include "host/report/advice_report.hpp"
#include "host/report/owned_rows.hpp"
#include "host/report/peaks_words.hpp"
#include "text/padding.hpp"

#include <algorithm>
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

/// Returns enough digits that the greater number has three.
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

/// Returns "1.2 to 4.04 s", "up to 4.04 s".
std::string from_to(double low, double high, int digits, std::string_view unit) {
  auto const lower = fixed(std::max(low, 0.0), digits), higher = fixed(high, digits);
  auto const end = higher + " " + std::string(unit);
  if (lower == higher || high <= 0) return end;
  auto const reads_as_0 = lower.find_first_not_of("0.") == std::string::npos;
  return (reads_as_0 ? "up to " : lower + " to ") + end;
}

/// Uses few digits, thousands separators, and no exponent if the number is readable without.
std::string plain_number(double value) {
  if (std::abs(value) >= 1000 && std::abs(value) < 1e15)
    return (value < 0 ? "-" : "") +
           readable_count(static_cast<std::uint64_t>(std::llround(std::abs(value))));
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Returns "1,830 MHz", "95.7 TFLOP/s", "41.6 ±21 TFLOP/s".
std::string with_prefix(double value, double error, std::string const& unit) {
  constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P"};
  auto const is_unsure = is_very_unsure(value, error);
  std::size_t at = 0;
  for (; value >= 2000 && at + 1 < std::size(prefixes); ++at) {
    value /= 1000;
    error /= 1000;
  }
  return plain_number(value) + (is_unsure ? " " + error_text(error) : "") + " " +
         std::string(prefixes[at]) + unit;
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

std::string roof_sentence(advice_report const& report) {
  constexpr double enough = 0.8;
  if (!report.roof) {
    auto const is_asked = report.advice.findings.empty() && !report.roof_is_missing.empty();
    return is_asked ? "How close its kernels are to the roof is not known; needs: " +
                          report.roof_is_missing + "."
                    : std::string();
  }
  auto const& roof = *report.roof;
  if (roof.known_share < enough)
    return "How close its kernels are to the measured roofs is not known for " +
           percent(1 - roof.known_share) + " of their time.";
  auto text = "Kernels reach " + percent(roof.share) +
              " of the measured roofs, mean by time; known for " + percent(roof.known_share) +
              " of their time";
  if (auto const bound = name_of(roof.bound); !bound.empty())
    text += ", most of it bound by " + std::string(bound);
  return text + ".";
}

namespace {

bool is_share_of_roof(advice::evidence const& one) {
  return one.unit.empty() && (one.name == "of the roof" || one.name == "DRAM" || one.name == "L2");
}

std::string roof_named(std::string const& name) {
  return name == "of the roof" ? "measured roof" : name + " bandwidth";
}

}  // namespace

std::string evidence_words(advice::evidence const& one) {
  auto text = one.name + " ";
  auto const source = one.source.empty() ? std::string() : " (" + one.source + ")";
  if (one.unit == "ns")
    text += readable_time(one.value);
  else if (one.unit == "B" || one.unit == "bytes")
    text += readable_bytes(one.value);
  else if (one.unit == "B/s")
    text += readable_bytes(one.value) + "/s";
  else if (one.unit == "Hz" || one.unit == "FLOP/s")
    text += with_prefix(one.value, one.error, one.unit);
  else if (is_share_of_roof(one))
    return "reaches " + fixed(100 * one.value, 0) + " % of the " + roof_named(one.name) + source;
  else if (one.name == "below the maximum clock")
    return fixed(100 * one.value, 0) + " % " + one.name + source;
  else
    text += plain_number(one.value) + (one.unit.empty() ? "" : " " + one.unit);
  return text + source;
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
  add("replayed", "where the run has steps, a replay of the repair says the gain instead");
  add("ignores", rule.ignores);
  add("next", rule.next);
  return text;
}

namespace {

constexpr std::size_t finding_indent = 4, label_width = 7;
constexpr std::size_t shown_evidence = 2;

/// Writes "where:  in range forward, ...".
class block {
 public:
  explicit block(finding_layout const& layout) : layout_(layout) {}
  void line(std::string_view label, std::string const& text) {
    if (text.empty()) return;
    std::string whole(finding_indent, ' ');
    text::append_padded(whole, label, label_width, false);
    append_wrapped(lines_, whole + text::on_one_line(text), layout_.width,
                   finding_indent + label_width);
  }
  std::vector<std::string>& lines() noexcept { return lines_; }
  /// Shortens a name so that it fits on the rest of its line.
  std::string name(std::string_view text, std::size_t beside) const {
    auto const used = finding_indent + label_width + beside;
    constexpr std::size_t longest = 160;  // also in a file or pipe: kernel names may have kilobytes
    auto const plain = text::on_one_line(text);
    auto const width = layout_.width > used + 12 ? layout_.width - used : longest;
    auto const shown = text::shortened_apart({plain}, width);
    return shown.empty() ? plain : shown.begin()->second;
  }

 private:
  finding_layout const& layout_;
  std::vector<std::string> lines_;
};

/// Names of functions and fields keep their spelling.
std::string as_sentence(std::string text) {
  auto const first = std::string_view(text).substr(0, text.find(' '));
  auto const is_word = std::all_of(first.begin(), first.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
  if (!text.empty() && is_word) text[0] = static_cast<char>(text[0] - ('a' - 'A'));
  return text;
}

std::vector<std::string> heading_of(std::size_t number, advice::finding const& one,
                                    finding_layout const& layout) {
  std::string text;
  text::append_padded(text, std::to_string(number) + ". ", finding_indent, true);
  text += as_sentence(text::on_one_line(one.what)) + " [" + std::string(one.rule) + "]";
  std::vector<std::string> lines;
  append_wrapped(lines, text, layout.width, finding_indent);
  if (layout.bold)
    for (auto& line : lines) line = "\x1b[1m" + line + "\x1b[0m";
  return lines;
}

std::string gain_of(advice::joined_finding const& of, std::string_view whole) {
  if (of.ns.high <= 0)
    return of.one.is_hidden_by_launches ? "none alone: launches hold the program, not this kernel"
                                        : "no time to win by itself";
  auto text = time_interval(of.ns) + " (" + share_interval(of.share) + " of the " +
              std::string(whole) + (of.ranks.size() > 1 ? " of a rank)" : ")") +
              condition_of(of.one);
  if (of.one.alone_ns < of.ns.high / 2)
    return text + "; only after other fixes: alone it saves " +
           (of.one.alone_ns > 0 ? readable_time(of.one.alone_ns) : std::string("nothing"));
  if (of.one.is_hidden_by_launches)
    text += "; the program waits for its launches: sure only once these are faster";
  return text;
}

/// Returns "on 7 of 8 ranks, 120 ms (rank 3) to 140 ms (rank 5) at best".
std::string ranks_of(advice::joined_finding const& of, std::size_t all) {
  if (all < 2 || of.ranks.empty()) return {};
  auto const [least, greatest] = std::minmax_element(
      of.ranks.begin(), of.ranks.end(),
      [](auto const& a, auto const& b) { return a.gain.high_ns < b.gain.high_ns; });
  auto const figure = [](advice::gain_of_rank const& rank) {
    return readable_time(rank.gain.high_ns) + " (rank " + rank.rank + ")";
  };
  auto text = "on " + std::to_string(of.ranks.size()) + " of " + std::to_string(all) + " ranks";
  if (greatest->gain.high_ns <= 0) return text;
  return text + ", " +
         (of.ranks.size() == 1 ? figure(*least) : figure(*least) + " to " + figure(*greatest)) +
         " at best";
}

std::string where_of(advice::finding const& one, std::size_t ranks, block const& layout) {
  std::vector<std::string> parts;
  if (!one.line.empty()) parts.push_back("line " + one.line);
  if (!one.module.empty()) parts.push_back("module " + one.module);
  if (!one.range.empty()) parts.push_back("range " + layout.name(one.range, 6));
  if (!one.call.empty()) parts.push_back(layout.name(one.call, 0));
  if (one.device && ranks < 2) parts.push_back("GPU " + std::to_string(raw(*one.device)));
  if (one.instances > 0) parts.push_back(counted(one.instances, "times"));
  std::string text;
  for (auto const& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string why_of(advice::finding const& one) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown_evidence, one.because.size()); ++i)
    text += (i == 0 ? "" : ", ") + evidence_words(one.because[i]);
  return text;
}

std::string next_of(std::string_view rule_name) {
  auto const* const rule = advice::find_rule(rule_name);
  return rule != nullptr ? std::string(rule->next) : std::string();
}

}  // namespace

std::string condition_of(advice::finding const& one) {
  return one.condition.empty() ? std::string() : ", if " + one.condition;
}

void append_wrapped(std::vector<std::string>& lines, std::string_view text, std::size_t width,
                    std::size_t indented) {
  auto const broken = text::wrapped(text, width, indented);
  for (std::size_t begin = 0; begin <= broken.size();) {
    auto const end = std::min(broken.find('\n', begin), broken.size());
    lines.push_back(broken.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::vector<std::string> finding_text(std::size_t number, advice::joined_finding const& of,
                                      finding_layout const& layout) {
  auto const& one = of.one;
  block text(layout);
  text.lines() = heading_of(number, one, layout);
  append_wrapped(text.lines(), "    potential gain " + gain_of(of, layout.whole), layout.width,
                 finding_indent + label_width);
  text.line("ranks", ranks_of(of, layout.ranks));
  text.line("kernel", text.name(one.kernel, 0));
  text.line("where", where_of(one, layout.ranks, text));
  text.line("why", why_of(one));
  text.line("do", layout.as_before > 0
                      ? "as in " + std::to_string(layout.as_before)
                      : one.to_do +
                            (one.changes_results ? " Changes results in their last digits." : ""));
  if (one.then) text.line("then", "mostly " + std::string(replay::name_of(*one.then)));
  if (layout.as_before == 0) text.line("next", next_of(one.rule));
  return std::move(text.lines());
}

}  // namespace gpuprof::host::report
