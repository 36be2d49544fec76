// SPDX-License-Identifier: Apache-2.0
#include "whatif/slices.hpp"

#include "analyze/step_reading.hpp"
#include "base/readable.hpp"

#include <algorithm>
#include <map>

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
    auto const first = (quiet.size() - kept) / 2;
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
    made.remarks.push_back("there are no steps: the run from " + moment(made.begin) + " to " +
                           moment(made.end) +
                           " stands for all; NVTX ranges around the steps say more");
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
    time_stretch best{};
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

}  // namespace

result<chosen_steps> slices_of(trace_contents& trace, steps_question const& question) {
  return slice_choice(trace, question).make();
}

}  // namespace gpuprof::host::command
