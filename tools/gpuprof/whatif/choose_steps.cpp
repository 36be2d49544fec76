// SPDX-License-Identifier: Apache-2.0
#include "whatif/choose_steps.hpp"

#include "analyze/phase.hpp"
#include "analyze/steady_part.hpp"
#include "analyze/step_reading.hpp"
#include "base/readable.hpp"
#include "host/analysis/selection.hpp"
#include "host/analysis/timeline/step_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <span>
#include <vector>

namespace gpuprof::host::command {
namespace {

constexpr std::size_t min_samples = 30, min_slices = 3, max_slices = 40, items_of_slice = 100;

class slice_choice {
 public:
  slice_choice(trace_contents& trace, steps_question const& question)
      : trace_(trace),
        question_(question),
        every_(question.launches->every),
        launches_(question.launches->launches) {
    std::sort(launches_.begin(), launches_.end(),
              [](auto const& a, auto const& b) { return a.at < b.at; });
  }

  result<chosen_steps> make() {
    auto const steady = launches_in(longest(steady_times()));
    auto const quiet = launches_in(longest(without(steady_, disturbed_times(trace_))));
    if (steady.size() < min_samples || quiet.size() < min_samples)
      return error{"there are no steps, and too few launches follow each other undisturbed"};
    auto const kept = std::min<std::size_t>(
        quiet.size(), std::max<std::size_t>(min_samples, question_.max_items / every_));
    auto const first = begin_of_usual(quiet, kept);
    chosen_steps made;
    made.begin = quiet[first].at;
    made.end = quiet[first + kept - 1].at;
    if (made.end <= made.begin) return error{"there are no steps, and all launches came at once"};
    auto const count =
        std::clamp<std::size_t>(kept * every_ / items_of_slice, min_slices, max_slices);
    auto const length = (made.end - made.begin).value / static_cast<std::int64_t>(count);
    for (std::size_t i = 0; i < count; ++i)
      made.slices.push_back(
          {made.begin.value + static_cast<std::uint64_t>(length) * static_cast<std::uint64_t>(i)});
    made.all = count;
    made.all_slices = static_cast<double>(count * steady.size()) / static_cast<double>(kept);
    made.thread = busiest_thread(quiet);
    made.remarks.push_back("there are no steps: gains are computed from " + moment(made.begin) +
                           " to " + moment(made.end) +
                           ", for all of it; NVTX ranges around the steps say more");
    return made;
  }

 private:
  using launches = std::span<sampled_launches::launch const>;

  std::string moment(timestamp_ns at) const {
    return readable_time(static_cast<double>((at - trace_.origin()).value));
  }

  launches launches_in(time_stretch const& within) const {
    auto const at = [&](timestamp_ns moment) {
      return std::partition_point(launches_.begin(), launches_.end(),
                                  [&](auto const& launch) { return launch.at < moment; });
    };
    return {at(within.begin), at(within.end)};
  }

  /// The windows of the capture, as far as they lie in the phase, after the first tenth of the
  /// launches.
  std::vector<time_stretch> steady_times() {
    std::vector<time_stretch> times;
    for (auto const& window : trace_.windows())
      times.push_back({window.start, window.end.value != 0 ? window.end : trace_.last_moment()});
    if (times.empty()) times.push_back({trace_.origin(), trace_.last_moment()});
    std::vector<time_stretch> inside;
    for (auto const& one : times) {
      if (question_.phase.empty()) inside.push_back(one);
      for (auto const& part : question_.phase)
        inside.push_back({std::max(one.begin, part.begin), std::min(one.end, part.end)});
    }
    auto const best = longest(inside);
    auto const here = launches_in(best);
    if (here.empty()) return {};
    steady_ = {here[here.size() / 10].at, best.end};
    return {steady_};
  }

  time_stretch longest(std::vector<time_stretch> const& of) const {
    time_stretch best{{}, {}};
    for (auto const& one : of)
      if (one.end > one.begin && launches_in(one).size() > launches_in(best).size()) best = one;
    return best;
  }

  static std::vector<time_stretch> without(time_stretch all,
                                           std::vector<time_stretch> const& disturbed) {
    std::vector<time_stretch> quiet;
    for (auto const& one : disturbed) {
      if (one.begin > all.begin && one.begin < all.end) quiet.push_back({all.begin, one.begin});
      all.begin = std::max(all.begin, one.end);
    }
    quiet.push_back(all);
    return quiet;
  }

  /// Returns where `kept` launches in a row begin that take as long as so many take in the mean; of
  /// several, those nearest to the middle.
  static std::size_t begin_of_usual(launches of, std::size_t kept) {
    auto const mean_ns = ns_between(of.front(), of.back()) * static_cast<double>(kept) /
                         static_cast<double>(of.size());
    auto const middle = (of.size() - kept) / 2;
    auto const off = [&](std::size_t first) {
      constexpr double as_good = 0.02;
      auto const ns = ns_between(of[first], of[first + kept - 1]);
      return std::floor(std::abs(ns - mean_ns) / (as_good * std::max(1.0, mean_ns)));
    };
    auto const apart = std::max<std::size_t>(1, kept / 8);
    auto best = middle;
    auto const look_at = [&](std::size_t first) {
      if (off(first) < off(best)) best = first;
    };
    for (std::size_t away = apart; away <= middle; away += apart) {
      look_at(middle - away);
      look_at(middle + away);
    }
    return best;
  }

  static double ns_between(sampled_launches::launch const& a, sampled_launches::launch const& b) {
    return static_cast<double>((b.at - a.at).value);
  }

  static thread_index busiest_thread(launches of) {
    std::map<thread_index, std::size_t> counts;
    for (auto const& launch : of) ++counts[launch.thread];
    return std::max_element(counts.begin(), counts.end(),
                            [](auto const& a, auto const& b) { return a.second < b.second; })
        ->first;
  }

  trace_contents& trace_;
  steps_question const& question_;
  std::uint64_t every_ = 1;
  std::vector<sampled_launches::launch> launches_;
  time_stretch steady_{};
};

/// Cuts a part of the run into stretches of equal length: after the first tenth of the launches,
/// inside of one window of the capture and of the phase that was asked for, where the profiler held
/// nothing up, and with as many items as the question allows.
result<chosen_steps> slices_of(trace_contents& trace, steps_question const& question) {
  return slice_choice(trace, question).make();
}

constexpr std::size_t min_sample = 3;     // steps
constexpr double least_gap_share = 0.02;  // between steps: it belongs to them then

class step_choice {
 public:
  step_choice(trace_contents& trace, steps_question const& question)
      : trace_(trace), tree_(trace.ranges()), question_(question) {}

  result<chosen_steps> make() {
    auto found = number_steps(tree_, trace_.text(), question_.step_name);
    if (!question_.phase.empty()) found = steps_within(std::move(found), tree_, question_.phase);
    if (found.empty() && question_.launches != nullptr && question_.step_name.empty())
      return slices_of(trace_, question_);
    if (found.empty()) return error{no_steps()};
    made_.name = found.name;
    made_.instances = found.instances;
    if (auto const kept = keep_within(); !kept) return error{kept.message()};
    keep_one_thread();
    if (question_.like) return keep_like(*question_.like);
    auto const could_be_chosen = made_.instances;
    keep_one_window();
    keep_one_stretch();
    if (!trace_.file().is_complete()) leave_out_cut_off();
    made_.all = made_.instances.size();
    if (made_.instances.empty())
      return error{"no step \"" + made_.name + "\" lies whole inside of one capture window"};
    leave_out_warm_up();
    leave_out_disturbed();
    if (made_.instances.empty())
      return error{"counters were read in each step \"" + made_.name +
                   "\", which changes what it takes; record a run without --metrics"};
    take_sample();
    made_.could_be_chosen = could_be_chosen.size();
    made_.first = static_cast<std::size_t>(
        std::find(could_be_chosen.begin(), could_be_chosen.end(), made_.instances.front()) -
        could_be_chosen.begin());
    find_end();
    return std::move(made_);
  }

 private:
  /// Ranks that run ahead of their GPUs do so by different times, so steps belong together by their
  /// number; by time if the ranks have not equally many.
  result<chosen_steps> keep_like(steps_of_other_rank const& other) {
    auto& all = made_.instances;
    made_.all = all.size();
    if (all.size() == other.all) {
      auto const first = all.begin() + static_cast<std::ptrdiff_t>(other.first);
      all = std::vector<std::uint32_t>(first, first + static_cast<std::ptrdiff_t>(other.count));
    } else {
      std::erase_if(all, [&](auto step) {
        return tree_[step].begin < other.time.begin || tree_[step].begin >= other.time.end;
      });
    }
    if (all.empty())
      return error{"no step \"" + made_.name +
                   "\" begins while the steps of the first rank are replayed"};
    made_.begin = tree_[all.front()].begin;
    made_.end = tree_[all.back()].end;
    return std::move(made_);
  }

  std::string no_steps() const {
    if (!question_.step_name.empty())
      return "there is no range \"" + question_.step_name + "\" that could be a step";
    return "there are no steps: no NVTX range repeats and covers the run; put a range around each "
           "step, or name one with --step";
  }

  result<void> keep_within() {
    if (question_.within.empty()) return {};
    auto const expression = parse_range_expression(question_.within);
    if (!expression) return error{expression.message()};
    auto const ranges = ranges_of(*expression, tree_, trace_.text());
    if (!ranges) return error{ranges.message()};
    for (auto const range : *ranges) {
      std::vector<std::uint32_t> inside;
      for (auto const step : made_.instances)
        if (tree_[step].begin >= tree_[range].begin && tree_[step].end <= tree_[range].end)
          inside.push_back(step);
      if (inside.empty()) continue;
      if (ranges->size() > 1)
        made_.remarks.push_back("only the first range " + question_.within +
                                " with steps is replayed");
      made_.instances = std::move(inside);
      return {};
    }
    return error{"no step \"" + made_.name + "\" lies inside of a range " + question_.within};
  }

  void keep_one_thread() {
    std::map<thread_index, std::size_t> counts;
    for (auto const step : made_.instances) ++counts[tree_[step].thread];
    made_.thread = std::max_element(counts.begin(), counts.end(), [](auto const& a, auto const& b) {
                     return a.second < b.second;
                   })->first;
    std::erase_if(made_.instances, [&](auto step) { return tree_[step].thread != made_.thread; });
    if (counts.size() > 1)
      made_.remarks.push_back("steps of one thread are replayed; " + std::to_string(counts.size()) +
                              " threads have some");
  }

  /// Keeps the steps of the window that has the most.
  void keep_one_window() {
    std::erase_if(made_.instances, [&](auto step) { return tree_[step].still_open; });
    std::vector<std::uint32_t> best;
    for (auto const& window : trace_.windows()) {
      auto const end = window.end.value != 0 ? window.end : trace_.last_moment();
      std::vector<std::uint32_t> inside;
      for (auto const step : made_.instances)
        if (tree_[step].begin >= window.start && tree_[step].end <= end) inside.push_back(step);
      if (inside.size() > best.size()) best = std::move(inside);
    }
    if (!trace_.windows().empty()) made_.instances = std::move(best);
  }

  /// Keeps the steps of the stretch of the phase that has the most, if they are enough.
  void keep_one_stretch() {
    std::vector<std::uint32_t> best;
    for (auto const& stretch : question_.phase) {
      std::vector<std::uint32_t> inside;
      for (auto const step : made_.instances)
        if (tree_[step].begin >= stretch.begin && tree_[step].end <= stretch.end)
          inside.push_back(step);
      if (inside.size() > best.size()) best = std::move(inside);
    }
    if (best.size() < min_sample || best.size() == made_.instances.size()) return;
    made_.remarks.emplace_back("only the longest stretch of the phase is replayed");
    made_.instances = std::move(best);
  }

  /// The last kernels of a file without an end are missing.
  void leave_out_cut_off() {
    timestamp_ns last{};
    trace_.file().for_each<kernel_record>(
        [&](std::span<kernel_record const> kernels) {
          for (auto const& kernel : kernels) last = std::max(last, kernel.launched);
        },
        capture::only(&kernel_record::launched));
    auto const left_out =
        std::erase_if(made_.instances, [&](auto step) { return tree_[step].end > last; });
    if (left_out > 0)
      made_.remarks.push_back("the file has no end: " + counted(left_out, "steps") + " left out");
  }

  void leave_out_warm_up() {
    auto const warm = steps_of_warm_up(periods_of_thread(tree_, made_.instances));
    if (warm == 0) return;
    made_.remarks.push_back(counted(warm, "steps") + " of warm-up at the begin " +
                            (warm == 1 ? "is" : "are") + " left out");
    made_.instances.erase(made_.instances.begin(),
                          made_.instances.begin() + static_cast<std::ptrdiff_t>(warm));
  }

  /// Keeps the longest run of steps in which the profiler held nothing up.
  void leave_out_disturbed() {
    auto const times = disturbed_times(trace_);
    if (times.empty()) return;
    std::vector<std::uint32_t> best, run;
    std::size_t next = 0;
    timestamp_ns until{};
    for (auto const step : made_.instances) {
      while (next < times.size() && times[next].begin < tree_[step].end)
        until = std::max(until, times[next++].end);
      if (until > tree_[step].begin)
        run.clear();
      else
        run.push_back(step);
      if (run.size() > best.size()) best = run;
    }
    if (best.size() == made_.instances.size()) return;
    if (best.empty() && question_.takes_disturbed) return;
    made_.remarks.emplace_back(
        "only the longest run of steps without a reading of counters is "
        "replayed");
    made_.instances = std::move(best);
  }

  /// Takes consecutive steps whose mean is nearest to the mean of all.
  void take_sample() {
    auto const& file = trace_.file();
    auto const items = file.row_count<kernel_record>() + file.row_count<copy_record>() +
                       file.row_count<memset_record>() + file.row_count<graph_record>();
    auto const all = made_.instances.size();
    auto const of_step = std::max<std::uint64_t>(1, items / std::max<std::size_t>(1, made_.all));
    auto const count = std::min(
        all,
        std::max<std::size_t>(min_sample, static_cast<std::size_t>(question_.max_items / of_step)));
    if (count == all) return;
    auto const lengths = periods_of_thread(tree_, made_.instances);
    double sum = 0, here = 0;
    for (auto const one : lengths) sum += one;
    auto const mean = sum / static_cast<double>(all);
    std::size_t best = 0;
    double best_off = HUGE_VAL;
    for (std::size_t i = 0; i < all; ++i) {
      here += lengths[i];
      if (i + 1 < count) continue;
      auto const off = std::abs(here / static_cast<double>(count) / mean - 1);
      if (off < best_off) {
        best_off = off;
        best = i + 1 - count;
      }
      here -= lengths[i + 1 - count];
    }
    auto const first = made_.instances.begin() + static_cast<std::ptrdiff_t>(best);
    made_.instances = std::vector<std::uint32_t>(first, first + static_cast<std::ptrdiff_t>(count));
    char off[32];
    std::snprintf(off, sizeof off, "%.1f %%", 100 * best_off);
    made_.remarks.push_back("steps " + readable_count(best) + " to " +
                            readable_count(best + count - 1) +
                            " stand for all: their mean differs by " + off);
  }

  /// Time between steps belongs to the step before it. For the last step it is not known, so the
  /// last step only marks the end of the one before it.
  void find_end() {
    auto& steps = made_.instances;
    made_.begin = tree_[steps.front()].begin;
    made_.end = tree_[steps.back()].end;
    double inside = 0;
    for (auto const step : steps) inside += static_cast<double>(tree_[step].duration().value);
    if (steps.size() <= min_sample ||
        inside > (1 - least_gap_share) * static_cast<double>((made_.end - made_.begin).value))
      return;
    made_.end = tree_[steps.back()].begin;
    steps.pop_back();
  }

  trace_contents& trace_;
  range_tree const& tree_;
  steps_question const& question_;
  chosen_steps made_;
};

}  // namespace

result<chosen_steps> choose_steps(trace_contents& trace, steps_question const& question) {
  return step_choice(trace, question).make();
}

}  // namespace gpuprof::host::command
