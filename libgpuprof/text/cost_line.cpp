// SPDX-License-Identifier: Apache-2.0
#include "base/readable.hpp"
#include "text/overview.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gpuprof::text {
namespace {

constexpr std::string_view once_allowed = "cost.once_allowed_ns";  // not in captures before 1.6

/// All times in nanoseconds.
struct spent_time {
  double outside = 0;  // before and after what was captured
  double code = 0;
  double python_stacks = 0;
  double counters_once = 0, counters_later = 0;

  double once() const noexcept { return outside + code + counters_once; }
  double all() const noexcept { return once() + counters_later + python_stacks; }
};

std::optional<double> recorded(overview const& about, std::string_view name) {
  auto const found = std::find_if(about.costs.begin(), about.costs.end(),
                                  [&](auto const& cost) { return cost.what == name; });
  if (found == about.costs.end()) return std::nullopt;
  return static_cast<double>(found->count);
}

double figure(overview const& about, std::string_view name) {
  return recorded(about, name).value_or(0);
}

spent_time spent_in(overview const& about) {
  spent_time spent;
  spent.outside = figure(about, "cost.start_ns") + figure(about, "cost.leave_ns") +
                  figure(about, "cost.end_ns");
  spent.code = figure(about, "cost.code_ns");
  spent.python_stacks = figure(about, "cost.python_stacks_ns");
  auto const counters = figure(about, "cost.counters_ns");
  if (!about.all_launches_read) {
    auto const samples = std::min(counters, figure(about, "cost.sampling_ns"));
    spent.counters_once = std::min(counters - samples, figure(about, once_allowed)) +
                          std::min(samples, static_cast<double>(sampling_once_ns));
  }
  spent.counters_later = counters - spent.counters_once;
  return spent;
}

/// Returns "2.1 %", or "less than 0.1 %".
std::string percent(double share) {
  if (share > 0 && share < 0.001) return "less than 0.1 %";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

/// Returns "; by the rate of its launches it lost 120 +- 30 ms while counters were taken", and
/// whether that contradicts what was counted.
std::string lost_to_counters(overview const& about) {
  auto const error = recorded(about, "cost.counters_lost_error_ns");
  auto const lost = figure(about, "cost.counters_lost_ns");
  auto const counted_ns = figure(about, "cost.counters_ns");
  if (about.all_launches_read) return {};
  constexpr double long_enough = 20;  // seconds: counters are taken in bursts then
  auto const cannot = about.seconds < long_enough
                          ? "; what it lost to counters cannot be told in a run of " +
                                std::to_string(std::llround(about.seconds)) + " s"
                          : std::string("; what it lost to counters could not be measured");
  auto const was_looked_for = counted_ns > 0 && recorded(about, once_allowed);
  if (!error) return was_looked_for ? cannot : std::string();
  constexpr double useful = 0.25;  // of the run
  if (*error > useful * about.seconds * 1e9) return cannot;
  if (*error > std::max(lost, counted_ns))
    return cannot + ": by the rate of its launches " + readable_time(lost) + " +- " +
           readable_time(*error);
  auto const apart = std::abs(lost - counted_ns);
  auto text = "; by the rate of its launches it lost " + readable_time(lost) + " +- " +
              readable_time(*error) + " while counters were taken";
  if (apart <= std::max(lost, counted_ns) / 3) return text;
  return text + (apart <= 2 * *error ? ", too inexact to confirm the " : ", not the ") +
         readable_time(counted_ns) + " counted for them";
}

/// Returns "; tracing made each of 1,000 launches about 3.4 us longer, 3.4 ms in all".
std::string spent_on_launches(overview const& about) {
  if (about.launches == 0) return {};
  auto const calls = static_cast<double>(about.launches);
  auto const text = "; tracing made each of " + counted(about.launches, "launches") + " ";
  if (about.ns_a_launch)
    return text + "about " + readable_time(*about.ns_a_launch) + " longer, " +
           readable_time(calls * *about.ns_a_launch) + " in all";
  return text + readable_time(least_ns_a_launch) + " to " + readable_time(most_ns_a_launch) +
         " longer (measured on other machines), " + readable_time(calls * least_ns_a_launch) +
         " to " + readable_time(calls * most_ns_a_launch) + " in all";
}

/// Returns "; threads of the profiler used 411 ms of CPU, and 10.6 MB of memory".
std::string spent_beside(overview const& about) {
  double bytes = 0;
  for (auto const& cost : about.costs)
    if (cost.what.starts_with("memory.")) bytes += static_cast<double>(cost.count);
  auto const cpu = figure(about, "cost.drain_cpu_ns") + figure(about, "cost.sampler_cpu_ns") +
                   figure(about, "cost.counter_cpu_ns");
  std::string text;
  if (cpu > 0) text = "; threads of the profiler used " + readable_time(cpu) + " of CPU";
  if (cpu > 0 && about.seconds > 0)
    text += " (" + percent(cpu / 1e9 / about.seconds) + " of a core)";
  if (bytes > 0)
    text += (cpu > 0 ? ", and " : "; the profiler used ") + readable_bytes(bytes) + " of memory";
  return text;
}

}  // namespace

double share_lost(overview const& about) {
  auto const spent = spent_in(about);
  auto const run = about.seconds * 1e9 + spent.outside;
  return about.seconds > 0 ? spent.all() / run : 0;
}

std::string cost_line(overview const& about) {
  if (about.costs.empty()) return "cost: not recorded";
  auto const spent = spent_in(about);
  auto line = "cost: " + (about.costs_of.empty() ? std::string() : about.costs_of + ": ") +
              "the program waited " + readable_time(spent.all()) + " for this profiler";
  if (about.seconds > 0) line += ", " + percent(share_lost(about)) + " of the run";
  auto const is_split = about.all_launches_read || recorded(about, once_allowed);
  if (spent.counters_later > 0 && is_split)
    line += " (" + readable_time(spent.once()) + " once, " + readable_time(spent.counters_later) +
            " for counters" +
            (about.all_launches_read ? ")" : " later, which --overhead-budget limits)");
  if (spent.python_stacks > 0)
    line += ", with " + readable_time(spent.python_stacks) + " for stacks";
  return line + lost_to_counters(about) + spent_on_launches(about) + spent_beside(about);
}

}  // namespace gpuprof::text
