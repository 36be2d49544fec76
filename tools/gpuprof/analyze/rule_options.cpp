// SPDX-License-Identifier: Apache-2.0
#include "analyze/rule_options.hpp"

#include "base/nearest_name.hpp"
#include "base/readable.hpp"
#include "host/advice/rule.hpp"
#include "host/report/advice_words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace gpuprof::host::command {
namespace {

constexpr std::string_view any_rule = "any";

error unknown_rule(std::string_view option, std::string const& name,
                   std::vector<std::string> const& known) {
  auto const near = nearest_name(name, known);
  return error{std::string(option) + " does not know a rule '" + name + "'" +
               (near.empty() ? "" : ", did you mean " + near + "?") +
               "; gpuprof analyze --list-rules shows all"};
}

/// Returns where the threshold of a gate begins, or the length of the text if it has none.
std::size_t threshold_at(std::string_view text) noexcept {
  return std::min(text.find_first_of(":>"), text.size());
}

/// Parses ":gap=100:rows=10", starting at `at`.
result<nsys_rule_options> parse_nsys_options(std::string_view option, std::string const& text,
                                             std::size_t at) {
  nsys_rule_options options;
  while (at < text.size()) {
    auto const end = std::min(text.find(':', at + 1), text.size());
    auto const one = text.substr(at + 1, end - at - 1);
    auto const equals = std::min(one.find('='), one.size());
    auto const key = one.substr(0, equals);
    auto const value = whole_number<std::uint32_t>(one.substr(std::min(equals + 1, one.size())));
    if (value && key == "rows")
      options.rows = *value;
    else if (value && key == "gap")
      options.gap_ms = *value;
    else if (value && key == "chunks")
      options.chunks = *value;
    else if (value && key == "threshold")
      options.threshold_percent = *value;
    else
      return error{std::string(option) + " " + text + ": '" + one +
                   "' is no option of a rule of nsys; they are rows=N, gap=MS, chunks=N and "
                   "threshold=PERCENT"};
    at = end;
  }
  return options;
}

}  // namespace

std::vector<std::string> rule_names(bool nsys_too) {
  std::vector<std::string> names;
  for (auto const* rule : advice::all_rules()) names.emplace_back(rule->name);
  if (nsys_too) names.insert(names.end(), nsys_rule_names().begin(), nsys_rule_names().end());
  return names;
}

result<asked_rules> parse_rules(std::string_view option, std::span<std::string const> names,
                                bool nsys_too) {
  asked_rules asked;
  for (auto const& name : names) {
    auto const options_at = std::min(name.find(':'), name.size());
    if (advice::find_rule(name) != nullptr) {
      asked.ours.push_back(name);
    } else if (nsys_too && is_nsys_rule(name.substr(0, options_at))) {
      auto options = parse_nsys_options(option, name, options_at);
      if (!options) return error{options.message()};
      asked.of_nsys.push_back({name.substr(0, options_at), *options});
    } else {
      return unknown_rule(option, name, rule_names(nsys_too));
    }
  }
  return asked;
}

result<double> parse_share(std::string_view option, std::string_view text) {
  auto number = text;
  auto const is_percent = number.ends_with('%');
  if (is_percent) number.remove_suffix(1);
  while (number.ends_with(' ')) number.remove_suffix(1);
  double value = 0;
  auto const read = std::from_chars(number.data(), number.data() + number.size(), value);
  auto const share = is_percent ? value / 100 : value;
  if (number.empty() || read.ec != std::errc() || read.ptr != number.data() + number.size() ||
      !std::isfinite(share) || share < 0 || share > 1)
    return error{std::string(option) + " does not take '" + std::string(text) +
                 "'; write a share of the run, as 1% or 0.01"};
  return share;
}

result<std::vector<gate>> parse_gates(std::span<std::string const> texts) {
  std::vector<gate> gates;
  auto known = rule_names(false);
  known.emplace_back(any_rule);
  for (auto const& text : texts) {
    gate one{text.substr(0, threshold_at(text)), 0};
    if (std::find(known.begin(), known.end(), one.rule) == known.end())
      return unknown_rule("--fail-on", one.rule, known);
    if (one.rule == any_rule) one.rule.clear();
    if (auto const at = threshold_at(text); at < text.size()) {
      auto const share = parse_share("--fail-on " + text.substr(0, at), text.substr(at + 1));
      if (!share) return error{share.message()};
      one.share = *share;
    }
    gates.push_back(std::move(one));
  }
  return gates;
}

gate_answer ask(std::span<gate const> gates, advice::joined_advice const& advice) {
  gate_answer answer;
  for (auto const& gate : gates) {
    auto const look = [&](std::vector<advice::joined_finding> const& findings) {
      for (auto const& finding : findings)
        if ((gate.rule.empty() || finding.one.rule == gate.rule) && finding.share.high > gate.share)
          answer.failed.push_back(std::string(finding.one.rule) + ": " + finding.one.what + ", " +
                                  report::share_interval(finding.share) +
                                  " of the run, more than " + report::percent(gate.share));
    };
    look(advice.findings);
    look(advice.too_small);
    for (auto const& missing : advice.missing)
      if (missing.of->name == gate.rule)
        answer.undecided.push_back(gate.rule + " was not looked at; needs: " + missing.how);
  }
  return answer;
}

}  // namespace gpuprof::host::command
