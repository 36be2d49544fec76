// SPDX-License-Identifier: Apache-2.0
#include "guest/options/settings.hpp"

#include "base/nearest_name.hpp"
#include "guest/options/option_table.hpp"

#include <algorithm>

namespace gpuprof::guest {
namespace {

constexpr std::string_view prefix = "GPUPROF_";

std::optional<std::string> value_in(char const* const* environ, std::string const& variable) {
  auto const begin = variable + "=";
  for (; environ != nullptr && *environ != nullptr; ++environ)
    if (std::string_view const entry = *environ; entry.starts_with(begin))
      return std::string(entry.substr(begin.size()));
  return std::nullopt;
}

std::string defaults_hold(option const& o) {
  if (o.default_text.empty()) return "; it is ignored";
  return "; the default holds: " + std::string(o.default_text);
}

std::vector<std::string> known_names() {
  std::vector<std::string> names(other_variables().begin(), other_variables().end());
  for (auto const& o : options()) names.push_back(environment_name(o));
  return names;
}

std::string unknown_variable(std::string_view name) {
  auto const names = known_names();
  auto line = "unknown environment variable " + std::string(name) + " is ignored";
  // All names share the prefix, so the misspelling is after it. Compares only the endings.
  std::vector<std::string> endings;
  for (auto const& known : names) endings.push_back(known.substr(prefix.size()));
  auto const nearest = nearest_name(name.substr(prefix.size()), endings);
  if (nearest.empty()) return line + "; `gpuprof profile --help` lists the known ones";
  return line + "; did you mean " + std::string(prefix) + nearest + "?";
}

void read_variable(parsed_settings& parsed, std::string_view name, std::string_view value) {
  for (auto const& o : options()) {
    if (environment_name(o) != name) continue;
    if (value.empty()) return;  // the usual way to unset a variable for one command
    if (auto const read = set_option(parsed.values, o, value, name); !read) {
      parsed.warnings.push_back(read.message() + defaults_hold(o));
    }
    return;
  }
  auto const others = other_variables();
  if (std::find(others.begin(), others.end(), name) == others.end()) {
    parsed.warnings.push_back(unknown_variable(name));
  }
}

}  // namespace

bool metrics_options::explains() const {
  return std::find(words.begin(), words.end(), "explain") != words.end();
}

// Setting up two engines takes 0.2 s each (the first in a process up to 0.6 s). Seven passes take
// 0.02 s each, and seven readings of some dozens of signatures 0.001 s each. The set roofline takes
// 0.25 s for its engine and readings.
std::uint64_t metrics_options::may_cost_once_ns() const {
  constexpr std::uint64_t usual = 250'000'000, to_explain = 1'500'000'000;
  return once_ns.value_or(explains() ? to_explain : usual);
}

std::vector<kernel_pattern> kernels_of_collectives() {
  constexpr std::string_view mark = "regex:";
  return {{.text = std::string(collectives_to_skip.substr(mark.size())),
           .is_regex = true,
           .ignores_case = true}};
}

parsed_settings read_settings(char const* const* environ) {
  parsed_settings parsed;
  parsed.values.rank =
      rank_of([environ](std::string const& variable) { return value_in(environ, variable); });
  for (; environ != nullptr && *environ != nullptr; ++environ) {
    std::string_view const variable = *environ;
    if (!variable.starts_with(prefix)) continue;
    auto const equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    read_variable(parsed, variable.substr(0, equals), variable.substr(equals + 1));
  }
  for (auto& line : contradictions(parsed.values)) parsed.warnings.push_back(std::move(line));
  return parsed;
}

std::vector<std::string> contradictions(settings const& s) {
  std::vector<std::string> lines;
  if (s.range == capture_range::nvtx && !s.nvtx_capture) {
    lines.emplace_back(
        "capture-range nvtx needs nvtx-capture RANGE[@DOMAIN]: without it nothing is recorded");
  }
  if (s.nvtx_capture && s.range != capture_range::nvtx) {
    lines.emplace_back("nvtx-capture has no effect without capture-range nvtx");
  }
  if (s.step_range && !s.schedule) {
    lines.emplace_back("step-range has no effect without schedule WAIT,WARMUP,ACTIVE,REPEAT");
  }
  if (s.schedule && s.range != capture_range::none) {
    lines.emplace_back("schedule and capture-range cannot be combined: choose one of them");
  }
  if (s.metrics.mode != metrics_mode::none && !s.trace.cuda) {
    lines.emplace_back(
        "metrics has no effect when trace leaves out cuda: counters are read around kernels that "
        "are traced");
  }
  if (s.metrics.mode == metrics_mode::none && !s.metrics_given.set.empty()) {
    lines.emplace_back("metrics none and set " + s.metrics_given.set +
                       " cannot be combined: leave one of them out");
  }
  return lines;
}

}  // namespace gpuprof::guest
