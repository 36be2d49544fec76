// SPDX-License-Identifier: Apache-2.0
#include "host/compare/kernel_lines.hpp"

#include "host/compare/comparison.hpp"
#include "host/compare/difference.hpp"
#include "host/compare/interval.hpp"
#include "host/compare/matching.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host::compare {
namespace {

constexpr double unsure_clock = 0.05;  // with a larger error the clock is not used

/// True if the kernel follows the SM clock. Its bound may be unknown because its operations were
/// not counted; but if it is not bound by DRAM, it is bound by a unit that follows this clock.
bool is_held_by_the_gpu(kernel_line const& line) {
  if (line.bound.what != bound_by::kind::unknown) return true;
  return line.dram_share && *line.dram_share < latency_bound_below;
}

constexpr double clock_of_dram = 1;  // stands for DRAM's own, which does not change with the load

std::optional<double> clock_that_matters(kernel_line const& line) {
  if (line.bound.what == bound_by::kind::dram) return clock_of_dram;
  if (!is_held_by_the_gpu(line) || !line.clock || *line.clock <= 0) return std::nullopt;
  if (line.clock_error.value_or(0) > unsure_clock * *line.clock) return std::nullopt;
  return line.clock;
}

void take_figures(line_value& to, kernel_line const& line) {
  to.clock = clock_that_matters(line);
  if (to.clock && to.clock == line.clock) to.clock_error = line.clock_error.value_or(0) / *to.clock;
  to.of_roof = line.of_roof;
  to.dram_rate = line.dram_rate;
  to.flops = line.flops;
}

std::optional<double> mean_of(std::span<line_value const> values,
                              std::optional<double> line_value::*figure) {
  double sum = 0;
  for (auto const& value : values) {
    if (!(value.*figure)) return std::nullopt;
    sum += *(value.*figure);
  }
  return values.empty() ? std::nullopt : std::optional(sum / static_cast<double>(values.size()));
}

}  // namespace

line_value value_of(duration_series const& durations) {
  auto const found = estimate_of(durations);
  line_value value;
  value.launches = static_cast<double>(durations.count());
  value.total_ns = durations.total();
  value.call_ns = found.mean;
  value.error = found.error;
  value.fast_error = found.fast_error;
  value.freedom = found.freedom;
  return value;
}

line_value value_of(run_digest const& run, std::span<kernel_key const> keys, double parts) {
  line_value all;
  double robust_ns = 0, variance = 0, fast_variance = 0, owed_ns = 0;
  all.freedom = 1e9;
  for (auto const& key : keys) {
    auto const found = run.kernels.find(key);
    if (found == run.kernels.end()) continue;
    auto const one = value_of(found->second.durations);
    all.launches += one.launches;
    all.total_ns += one.total_ns;
    robust_ns += one.launches * one.call_ns;
    variance += std::pow(one.launches * one.call_ns * one.error, 2);
    fast_variance += std::pow(one.launches * one.call_ns * one.fast_error, 2);
    owed_ns += one.launches * one.call_ns * owed_share(found->second.durations);
    all.freedom = std::min(all.freedom, one.freedom);
    all.is_host_copy |= found->second.is_host_copy;
    if (keys.size() == 1) take_figures(all, found->second);
  }
  all.launches /= parts;
  if (all.launches <= 0 || robust_ns <= 0) return {};
  all.call_ns = robust_ns / all.launches;
  // Kernels of one graph are longer or shorter together.
  all.error = std::max(std::sqrt(variance), owed_ns) / robust_ns;
  all.fast_error = std::max(std::sqrt(fast_variance), owed_ns) / robust_ns;
  return all;
}

double steps_of(run_digest const& run, bool by_step) {
  return by_step && run.step && run.step->count > 0 ? static_cast<double>(run.step->count) : 1;
}

amount amount_of(std::span<run_digest const> side, std::span<line_value const> values,
                 bool by_step) {
  amount of;
  double share = 1 / static_cast<double>(side.size());
  double calls_ns = 0, present = 0;
  for (std::size_t i = 0; i < side.size(); ++i) {
    auto const steps = steps_of(side[i], by_step);
    of.calls += share * values[i].launches / steps;
    of.total_ns += share * values[i].total_ns / steps;
    if (values[i].launches <= 0) continue;
    calls_ns += values[i].call_ns;
    ++present;
  }
  if (present > 0) of.call_ns = calls_ns / present;
  of.of_roof = mean_of(values, &line_value::of_roof);
  of.dram_rate = mean_of(values, &line_value::dram_rate);
  of.flops = mean_of(values, &line_value::flops);
  return of;
}

bool are_known(std::span<line_value const> values) {
  return std::all_of(values.begin(), values.end(), [](line_value const& value) {
    return value.freedom > 0 && value.call_ns > 0;
  });
}

namespace {

using values = std::vector<line_value>;

/// With fewer lines, a common change cannot be separated from that of a single kernel.
constexpr std::size_t least_lines = 5;
// standard deviation / median absolute deviation, for a normal distribution
constexpr double robust_deviation = 1.4826;
constexpr double standing_out = 3;  // in standard deviations of the other kernels
constexpr double least_clocked_share = 0.5;

double median_of(std::vector<double> of) {
  auto const middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

/// Three standard errors of the clock, because that part of the time cannot be attributed. At most
/// the floor for an unknown clock.
double floor_of_clock(values const& base, values const& fresh) {
  double before = 0, after = 0;
  for (auto const& value : base) before = std::max(before, value.clock_error);
  for (auto const& value : fresh) after = std::max(after, value.clock_error);
  return std::clamp(3 * std::hypot(before, after), kernel_floor, run_floor);
}

struct drawn_line {
  difference line;
  values base, fresh;
  bool has_clock = false;
  double floor = kernel_floor;  // if the clock is known
  bool is_shared = false;       // used to compute what kernels share
};

class kernel_comparison {
 public:
  kernel_comparison(std::span<run_digest const> base, std::span<run_digest const> fresh,
                    compared_by by)
      : base_(base), fresh_(fresh), by_(by) {}

  kernel_lines run() {
    for (auto const& match :
         match_kernels(kernels_of(base_, by_.steps), kernels_of(fresh_, by_.steps)))
      add(match);
    find_run_clocks();
    if (!by_.roof) find_shared();
    for (auto& drawn : drawn_) found_.lines.push_back(std::move(drawn.line));
    return std::move(found_);
  }

 private:
  void add(kernel_match const& match);
  void observe(drawn_line& drawn);
  observations::run observed(line_value const& value, bool with_clock) const;
  bool is_weighty(drawn_line const& drawn) const;
  void find_run_clocks();
  std::vector<double> clocks_of(std::span<drawn_line const*> known, double all_ns,
                                values drawn_line::*side) const;
  void find_shared();
  void set_spread(std::vector<drawn_line*> const& lines) const;

  std::span<run_digest const> base_, fresh_;
  compared_by by_;
  std::vector<drawn_line> drawn_;
  kernel_lines found_;
};

void kernel_comparison::add(kernel_match const& match) {
  drawn_line drawn;
  auto& line = drawn.line;
  line.kind = line_kind::kernel;
  line.how = match.how;
  auto const& named = match.fresh.empty() ? match.base : match.fresh;
  for (auto const& key : named) line.name += (line.name.empty() ? "" : " + ") + key.name;
  if (match.how == match_kind::by_name) line.name = named.front().name;
  if (match.how == match_kind::renamed || match.how == match_kind::split)
    line.base_name = match.base.front().name;
  if (named.size() == 1 && match.how != match_kind::by_name) {
    line.grid = named.front().grid;
    line.block = named.front().block;
  }
  for (auto const& run : base_) drawn.base.push_back(value_of(run, match.base, 1));
  for (auto const& run : fresh_) drawn.fresh.push_back(value_of(run, match.fresh, match.parts));
  if (!match.base.empty()) line.base = amount_of(base_, drawn.base, by_.steps);
  if (!match.fresh.empty()) line.fresh = amount_of(fresh_, drawn.fresh, by_.steps);
  line.cost_ns =
      (line.fresh ? line.fresh->usual_ns() : 0) - (line.base ? line.base->usual_ns() : 0);
  observe(drawn);
  drawn_.push_back(std::move(drawn));
}

observations::run kernel_comparison::observed(line_value const& value, bool with_clock) const {
  observations::run run{std::log(value.call_ns), value.error, value.freedom};
  if (by_.roof) run.value = -std::log(*value.of_roof);
  if (with_clock) {
    run.value += std::log(*value.clock);
    run.error = std::hypot(run.error, value.clock_error);
  }
  return run;
}

void kernel_comparison::observe(drawn_line& drawn) {
  auto& line = drawn.line;
  if (!line.base || !line.fresh || line.base->call_ns <= 0 || line.fresh->call_ns <= 0) return;
  line.change = line.fresh->call_ns / line.base->call_ns - 1;
  auto const all = [&](auto const& holds) {
    return std::all_of(drawn.base.begin(), drawn.base.end(), holds) &&
           std::all_of(drawn.fresh.begin(), drawn.fresh.end(), holds);
  };
  auto const has_roof = all([](auto const& value) { return value.of_roof.value_or(0) > 0; });
  if (by_.roof && has_roof) line.by_roof = *line.base->of_roof / *line.fresh->of_roof - 1;
  if (!are_known(drawn.base) || !are_known(drawn.fresh) || (by_.roof && !has_roof)) return;
  // The clock's part is not known of a kernel that DRAM limits on some sides only.
  auto const is_by_dram = [](auto const& value) { return value.clock == clock_of_dram; };
  drawn.has_clock = !by_.roof && all([](auto const& value) { return value.clock.has_value(); }) &&
                    (all(is_by_dram) || all([&](auto const& value) { return !is_by_dram(value); }));
  for (auto const& value : drawn.base)
    line.of.left.base.push_back(observed(value, drawn.has_clock));
  for (auto const& value : drawn.fresh)
    line.of.left.fresh.push_back(observed(value, drawn.has_clock));
  if (drawn.has_clock) drawn.floor = floor_of_clock(drawn.base, drawn.fresh);
  auto const least = short_floor_ns / std::min(line.base->call_ns, line.fresh->call_ns);
  drawn.floor = std::max(drawn.floor, least);
  line.of.left.floor = std::max(drawn.has_clock ? drawn.floor : run_floor, least);
  if (!all([](auto const& value) { return !value.is_host_copy; }))
    line.of.left.floor = drawn.floor = std::max(host_floor, least);
  drawn.is_shared = is_weighty(drawn);
  if (!drawn.has_clock) return;
  auto const clock = [](values const& side) {
    double sum = 0;
    for (auto const& value : side) sum += std::log(*value.clock);
    return sum / static_cast<double>(side.size());
  };
  line.by_clock = std::expm1(clock(drawn.base) - clock(drawn.fresh));
}

bool kernel_comparison::is_weighty(drawn_line const& drawn) const {
  auto const share = [](std::span<run_digest const> side, values const& of) {
    double all = 0, line = 0;
    for (auto const& run : side) all += static_cast<double>(run.kernel_ns);
    for (auto const& value : of) line += value.total_ns;
    return all > 0 ? line / all : 0;
  };
  return std::max(share(base_, drawn.base), share(fresh_, drawn.fresh)) >= least_share;
}

std::vector<double> kernel_comparison::clocks_of(std::span<drawn_line const*> known, double all_ns,
                                                 values drawn_line::*side) const {
  std::vector<double> by_run((known.front()->*side).size());
  for (auto const* drawn : known) {
    double usual = 0;
    for (auto const& value : drawn->base) usual += std::log(*value.clock);
    usual /= static_cast<double>(drawn->base.size());
    auto const weight = drawn->line.base->total_ns / all_ns;
    for (std::size_t run = 0; run < by_run.size(); ++run)
      by_run[run] += weight * (usual - std::log(*(drawn->*side)[run].clock));
  }
  return by_run;
}

void kernel_comparison::find_run_clocks() {
  std::vector<drawn_line const*> known;
  double all_ns = 0, known_ns = 0;
  for (auto const& drawn : drawn_) {
    if (!drawn.line.base) continue;
    all_ns += drawn.line.base->total_ns;
    if (!drawn.has_clock) continue;
    known.push_back(&drawn);
    known_ns += drawn.line.base->total_ns;
  }
  if (known.empty() || known_ns < least_clocked_share * all_ns) return;
  found_.base_clock = clocks_of(known, all_ns, &drawn_line::base);
  found_.fresh_clock = clocks_of(known, all_ns, &drawn_line::fresh);
}

/// Finds the common change of each run: the median over kernels of the difference from their mean
/// over the base.
void kernel_comparison::find_shared() {
  std::vector<drawn_line*> lines;
  for (auto& drawn : drawn_)
    if (drawn.is_shared) lines.push_back(&drawn);
  if (lines.size() < least_lines) return;
  std::vector<double> usual;
  for (auto const* drawn : lines) {
    double sum = 0;
    for (auto const& run : drawn->line.of.left.base) sum += run.value;
    usual.push_back(sum / static_cast<double>(base_.size()));
  }
  auto const take = [&](std::vector<observations::run> observations::*side,
                        values drawn_line::*measured, std::size_t runs) {
    double sum = 0;
    for (std::size_t run = 0; run < runs; ++run) {
      std::vector<double> away;
      for (std::size_t i = 0; i < lines.size(); ++i)
        away.push_back((lines[i]->line.of.left.*side)[run].value - usual[i]);
      auto const shared = median_of(std::move(away));
      sum += shared;
      for (auto* drawn : lines) {
        auto of = (drawn->line.of.left.*side)[run];
        of.value -= shared;
        auto const& value = (drawn->*measured)[run];
        of.error = std::hypot(value.fast_error, drawn->has_clock ? value.clock_error : 0);
        (drawn->line.of.besides.*side).push_back(of);
      }
    }
    return sum / static_cast<double>(runs);
  };
  auto const before = take(&observations::base, &drawn_line::base, base_.size());
  found_.shared = take(&observations::fresh, &drawn_line::fresh, fresh_.size()) - before;
  for (auto* drawn : lines) drawn->line.shared = std::expm1(*found_.shared);
  set_spread(lines);
}

/// Sets how much kernels vary apart from the common change: with one run per side, from the
/// difference between kernels, with several runs from the variance of each kernel.
void kernel_comparison::set_spread(std::vector<drawn_line*> const& lines) const {
  std::vector<double> apart, variances;
  for (auto const* drawn : lines) {
    auto const& besides = drawn->line.of.besides;
    apart.push_back(std::abs(besides.fresh.front().value - besides.base.front().value));
    if (auto const variance = variance_between_runs(besides)) variances.push_back(*variance);
  }
  auto const freedom = static_cast<double>(base_.size() + fresh_.size()) - 2;
  for (auto* drawn : lines) {
    auto& besides = drawn->line.of.besides;
    besides.floor = std::max(drawn->floor, standing_out * robust_deviation * median_of(apart));
    // Wilson and Hilferty: median / mean of a chi-square distribution.
    if (!variances.empty())
      besides.usual_variance = median_of(variances) / std::pow(1 - 2 / (9 * freedom), 3);
  }
}

}  // namespace

kernel_lines compare_kernels(std::span<run_digest const> base, std::span<run_digest const> fresh,
                             compared_by by) {
  return kernel_comparison(base, fresh, by).run();
}

}  // namespace gpuprof::host::compare
