// SPDX-License-Identifier: Apache-2.0
#include "analyze/step_reading.hpp"

#include "analyze/fact_texts.hpp"
#include "base/time.hpp"
#include "host/advice/step_bound.hpp"

#include <algorithm>
#include <map>

namespace gpuprof::host::command {
namespace {

/// Returns true if both begin in the same stretch of the run, with nothing left out between them.
bool are_in_one_stretch(step_ranges const& steps, timestamp_ns first, timestamp_ns second) {
  auto const& ends = steps.stretch_ends;
  auto const end = std::upper_bound(ends.begin(), ends.end(), first);
  return end == ends.end() || second < *end;
}

/// A step lasts until the next step of the same thread and stretch begins; each thread is counted
/// separately.
std::vector<double> periods_of(range_tree const& tree, step_ranges const& steps) {
  auto const& all = steps.instances;
  std::vector<double> periods(all.size());
  std::map<thread_index, timestamp_ns> next_begin;
  for (auto i = all.size(); i-- > 0;) {
    auto const& step = tree[all[i]];
    auto const [next, is_last] = next_begin.try_emplace(step.thread);
    auto const end =
        is_last || !are_in_one_stretch(steps, step.begin, next->second) ? step.end : next->second;
    periods[i] = end > step.begin ? static_cast<double>((end - step.begin).value) : 0;
    next->second = step.begin;
  }
  return periods;
}

/// Subtracts the time from the step that began last before it.
void subtract(std::vector<double>& periods, range_tree const& tree, step_ranges const& steps,
              timestamp_ns begin, timestamp_ns end) {
  auto const& all = steps.instances;
  auto const next =
      std::upper_bound(all.begin(), all.end(), begin,
                       [&](timestamp_ns at, std::uint32_t step) { return at < tree[step].begin; });
  if (next == all.begin() || end < begin) return;
  auto& period = periods[static_cast<std::size_t>(next - all.begin() - 1)];
  period = std::max(0.0, period - static_cast<double>((end - begin).value));
}

/// Time in which the GPUs were idle because the profiler set up or read counters does not count for
/// a step.
void subtract_profiler(std::vector<double>& periods, time_ledger const& ledger) {
  auto const& steps = ledger.by_step();
  auto const gpus = static_cast<double>(std::max<std::size_t>(ledger.by_device().size(), 1));
  for (std::size_t i = 0; i < std::min(periods.size(), steps.size()); ++i)
    periods[i] = std::max(0.0, periods[i] - steps[i][time_bucket::profiler] / gpus);
}

/// Returns the time in ranges that load data inside steps; nested ones count once.
double loading_in(trace_contents& trace, step_ranges const& steps) {
  auto const& tree = trace.ranges();
  std::vector<bool> loads(tree.size());
  double ns = 0;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    auto const parent = tree[i].parent;
    auto const is_inside = parent != no_range && loads[parent];
    loads[i] = is_inside || is_name_of_loading(trace.text()(tree[i].name));
    if (loads[i] && !is_inside && steps.step_of_range[i] != no_step)
      ns += static_cast<double>(tree[i].duration().value);
  }
  return ns;
}

bucket_times scaled(bucket_times times, double by) {
  for (std::size_t i = 0; i < time_bucket_count; ++i) times[static_cast<time_bucket>(i)] *= by;
  return times;
}

void compare_slow(advice::step_facts& of, std::vector<bucket_times> const& by_step) {
  for (auto times : by_step) {
    times[time_bucket::profiler] = 0;
    of.gpu_ns.push_back(times.total());
    of.busy_of_step_ns.push_back(times.busy());
  }
  auto const found = advice::slow_steps_of(of).which;
  double slow = 0, usual = 0;
  for (std::size_t i = 0; i < std::min(of.period_ns.size(), by_step.size()); ++i) {
    auto const is_slow = std::binary_search(found.begin(), found.end(), i);
    auto times = by_step[i];
    times[time_bucket::profiler] = 0;
    (is_slow ? of.slow : of.usual) += times;
    (is_slow ? slow : usual) += 1;
  }
  if (slow > 0) of.slow = scaled(of.slow, 1 / slow);
  if (usual > 0) of.usual = scaled(of.usual, 1 / usual);
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<time_stretch> disturbed_times(trace_contents& trace) {
  std::vector<time_stretch> taken;
  trace.file().for_each<hold_record>([&](std::span<hold_record const> rows) {
    for (auto const& row : rows) taken.push_back({row.start, row.start + row.duration});
  });
  trace.file().for_each<read_launch_record>([&](std::span<read_launch_record const> rows) {
    for (auto const& row : rows) taken.push_back({row.opened, row.closed});
  });
  std::sort(taken.begin(), taken.end(),
            [](auto const& one, auto const& other) { return one.begin < other.begin; });
  return taken;
}

std::vector<double> periods_ahead(trace_contents& trace, step_ranges const& steps) {
  auto const& tree = trace.ranges();
  auto periods = periods_of(tree, steps);
  timestamp_ns until{};
  for (auto const& [begin, end] : disturbed_times(trace)) {
    subtract(periods, tree, steps, std::max(begin, until), end);
    until = std::max(until, end);
  }
  return periods;
}

std::vector<double> exact_periods(range_tree const& tree, step_ranges const& steps,
                                  time_ledger const& ledger) {
  auto periods = periods_of(tree, steps);
  subtract_profiler(periods, ledger);
  return periods;
}

advice::step_facts read_steps(trace_contents& trace, step_ranges const& steps,
                              timeline_pass const& pass, double window_ns, bool has_calls) {
  advice::step_facts of;
  if (steps.empty()) {
    if (has_calls) of.launching_thread_ns = std::max(0.0, window_ns - pass.waiting_of_launcher());
    of.busy_ns = pass.ledger().total().busy();
    of.items = pass.items();
    return of;
  }
  auto const& tree = trace.ranges();
  of.name = steps.name;
  of.first = steps.first;
  of.items = pass.steps().items;
  of.period_ns = exact_periods(tree, steps, pass.ledger());
  double inside = 0;
  for (auto const step : steps.instances)
    inside += static_cast<double>(tree[step].duration().value);
  if (has_calls) of.launching_thread_ns = std::max(0.0, inside - pass.steps().waiting_ns);
  for (auto const& times : pass.ledger().by_step()) of.busy_ns += times.busy();
  of.loading_ns = loading_in(trace, steps);
  compare_slow(of, pass.ledger().by_step());
  return of;
}

}  // namespace gpuprof::host::command
