// SPDX-License-Identifier: Apache-2.0
#include "comparison/headlines.hpp"

#include "base/readable.hpp"
#include "host/compare/judgement.hpp"
#include "host/compare/programs.hpp"

#include <cmath>
#include <cstdio>
#include <set>

namespace gpuprof {
namespace {

using compare::comparison;
using compare::difference;
using compare::run_digest;

std::string printed(char const* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string milliseconds(double ns) {
  return printed("%.4g ms", ns / 1e6);
}
std::string percent(double share) {
  return printed("%.1f %%", 100 * std::abs(share));
}

std::string side_line(char const* name, std::span<run_digest const> runs) {
  auto files = runs.front().path;
  if (runs.size() > 1) files += " and " + std::to_string(runs.size() - 1) + " more";
  std::set<std::string> gpus;
  std::uint64_t steps = 0;
  for (auto const& run : runs) {
    gpus.insert(run.gpus.begin(), run.gpus.end());
    if (run.step) steps += run.step->count;
  }
  std::string on;
  for (auto const& gpu : gpus) on += (on.empty() ? "" : ", ") + gpu;
  auto line = std::string(name) + files + ": " + compare::program_of(runs.front());
  if (!on.empty()) line += " on " + on;
  if (steps > 0) line += ", " + readable_count(steps) + " steps";
  return line;
}

std::string slower_or_faster(double share) {
  if (std::abs(share) < 0.0005) return "as long";
  return percent(share) + (share > 0 ? " longer" : " shorter");
}

/// "step: 111.2 -> 117.9 ms, 6.0 % longer, of which 5.1 % clock; what is left: ...: worse".
std::string step_line(difference const& line) {
  auto text = line.name + ": " + milliseconds(line.base->call_ns) + " -> " +
              milliseconds(line.fresh->call_ns) + ", " + slower_or_faster(*line.change);
  if (line.by_clock && std::abs(*line.by_clock) >= 0.0005)
    text += ", of which " + printed("%+.1f %%", 100 * *line.by_clock) + " clock";
  auto const& left = line.deciding();
  if (line.is == compare::verdict::not_tested)
    return text + "; too few repetitions, or too uneven ones, to judge";
  text += "; sure to within " + percent(std::expm1(left.half_width())) + " (" +
          std::string(name_of(left.from)) + "): " + std::string(name_of(line.is));
  return text;
}

}  // namespace

std::vector<std::string> headlines_of(comparison const& of, compared_sides const& sides) {
  std::vector<std::string> lines = {side_line("base: ", sides.base),
                                    side_line("new:  ", sides.fresh)};
  for (auto const& line : of.lines)
    if ((line.kind == compare::line_kind::step || line.kind == compare::line_kind::gpu_time) &&
        line.base && line.fresh && line.change)
      lines.push_back(step_line(line));
  std::size_t better = 0, worse = 0, undecided = 0;
  for (auto const& line : of.lines) {
    better += line.is == compare::verdict::better;
    worse += line.is == compare::verdict::worse;
    undecided += line.is == compare::verdict::undecided;
  }
  lines.push_back("beyond noise: " + std::to_string(worse) + " worse, " + std::to_string(better) +
                  " better, " + std::to_string(undecided) + " undecided, of " +
                  readable_count(of.tested) + " lines tested");
  if (of.shared && std::abs(*of.shared) >= compare::least_difference)
    lines.push_back("all kernels together take " + slower_or_faster(*of.shared) +
                    (of.clock ? ", clock taken out" : ": that may be the clock"));
  return lines;
}

}  // namespace gpuprof
