// SPDX-License-Identifier: Apache-2.0
#include "host/advice/late_ranks.hpp"

#include "host/analysis/ranks/held_waits.hpp"
#include "host/replay/repair.hpp"
#include "model/kernel_name.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gpuprof::host::advice {
namespace {

using replay::nothing;

constexpr double late_share = 0.02;       // of a step
constexpr double least_explained = 0.25;  // of the time by which a rank is late
constexpr double max_held_share = 0.01;   // of the steps of a rank, by the profiler, to be replayed
constexpr double least_of_cause = 0.05;   // of what is done longer, to be repaired
constexpr std::size_t cause_count = 4;

double median_of(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

struct lateness {
  std::uint64_t collectives = 0, last_in = 0;
  std::map<std::size_t, double> by_step;  // the greatest of the step
};

/// Nanoseconds over all steps, by the index of a name.
using times_by_name = std::map<std::uint32_t, double>;
/// What a rank does, by cause.
using work_of_rank = std::array<times_by_name, cause_count>;

class rank_finder {
 public:
  rank_finder(replay::step_graph const& joined, bool has_calls)
      : joined_(joined),
        steps_(joined.recorded()),
        has_calls_(has_calls),
        begins_(steps_.ranks()),
        late_(steps_.ranks()),
        works_(steps_.ranks()),
        cpu_in_(steps_.ranks()) {
    find_held_times();
  }

  std::vector<late_rank> all() {
    std::vector<late_rank> found;
    if (steps_.ranks() < 2 || steps_.steps == 0) return found;
    for (auto const& parts : joined_.meetings()) add_meeting(parts);
    add_items();
    add_points();
    auto const step_ns =
        static_cast<double>(joined_.recorded_ns()) / static_cast<double>(steps_.steps);
    for (std::uint32_t rank = 0; rank < steps_.ranks(); ++rank)
      if (auto one = look_at(rank, step_ns)) found.push_back(*std::move(one));
    std::stable_sort(found.begin(), found.end(),
                     [](auto const& a, auto const& b) { return a.late_ns > b.late_ns; });
    return found;
  }

 private:
  static std::size_t place_of(late_cause cause) { return static_cast<std::size_t>(cause); }

  /// The step of its own rank that launched it; the GPU may run it much later.
  std::size_t step_of(replay::recorded_item const& item) {
    auto& begins = begins_[steps_.rank_of(item)];
    if (begins.empty()) {
      for (auto const& range : steps_.ranges)
        if (range.is_step && rank_of_thread(range.thread) == steps_.rank_of(item))
          begins.push_back(range.begin_ns);
      std::sort(begins.begin(), begins.end());
    }
    return static_cast<std::size_t>(
        std::upper_bound(begins.begin(), begins.end(), item.launched_ns) - begins.begin());
  }

  std::uint32_t rank_of_thread(std::uint32_t thread) const {
    return thread < steps_.rank_of_thread.size() ? steps_.rank_of_thread[thread] : 0;
  }

  // Times count from the first step and may be negative.
  static timestamp_ns moment_of(std::int64_t ns) {
    return {static_cast<std::uint64_t>(ns + (std::int64_t{1} << 60))};
  }

  void find_held_times() {
    std::vector<std::vector<time_stretch>> held(steps_.ranks());
    for (auto const& hold : steps_.holds)
      held[hold.rank].push_back({moment_of(hold.begin_ns), moment_of(hold.end_ns)});
    std::vector<held_idle_times> idle;
    for (auto& of : held) {
      held_.emplace_back(std::move(of));
      idle.emplace_back(held_.back());
    }
    std::uint64_t most_held_ns = 0;
    for (auto const& of : held_)
      most_held_ns = std::max(most_held_ns, of.between({}, {~std::uint64_t{0}}));
    is_held_ = static_cast<double>(most_held_ns) >
               max_held_share * static_cast<double>(joined_.recorded_ns());
    meeting_ends_.resize(steps_.ranks());
    for (auto const& item : steps_.items) {  // in order of their start
      auto const rank = steps_.rank_of(item);
      idle[rank].add_work(moment_of(item.start_ns), moment_of(item.end_ns));
      if (item.meeting != nothing) meeting_ends_[rank].push_back(item.end_ns);
    }
    for (auto& of : meeting_ends_) std::sort(of.begin(), of.end());
    for (auto& of : idle) held_idle_.push_back(of.finish());
  }

  double held_ns(std::uint32_t rank, std::int64_t from, std::int64_t to) const {
    return static_cast<double>(held_[rank].between(moment_of(from), moment_of(to)));
  }

  /// When it would have begun if the profiler had not held its rank since the collective before.
  std::int64_t start_without_us(replay::recorded_item const& item) const {
    auto const rank = steps_.rank_of(item);
    if (held_idle_[rank].empty()) return item.start_ns;
    auto const& ends = meeting_ends_[rank];
    auto const next = std::upper_bound(ends.begin(), ends.end(), item.start_ns);
    auto const from = next == ends.begin() ? timestamp_ns{} : moment_of(*std::prev(next));
    return item.start_ns -
           static_cast<std::int64_t>(held_idle_[rank].between(from, moment_of(item.start_ns)));
  }

  void add_meeting(std::vector<std::uint32_t> const& parts) {
    if (parts.size() < 2 || steps_.items[parts.front()].is_from_before) return;
    std::map<std::uint32_t, std::int64_t> starts;
    auto last = parts.front();
    std::vector<double> others;
    for (auto const part : parts) starts[part] = start_without_us(steps_.items[part]);
    for (auto const part : parts)
      if (starts[part] > starts[last]) last = part;
    for (auto const part : parts) {
      ++late_[steps_.rank_of(steps_.items[part])].collectives;
      if (part != last) others.push_back(static_cast<double>(starts[part]));
    }
    auto& of = late_[steps_.rank_of(steps_.items[last])];
    auto const start = starts[last];
    ++of.last_in;
    auto& most = of.by_step[step_of(steps_.items[last])];
    most = std::max(most, static_cast<double>(start) - median_of(std::move(others)));
  }

  /// A kernel that ran while the profiler read counters counts as long as others of its name do.
  void add_items() {
    struct kernels_of_name {
      double undisturbed = 0, ns = 0, disturbed = 0, disturbed_ns = 0;
    };
    std::vector<std::map<std::uint32_t, kernels_of_name>> kernels(steps_.ranks());
    for (auto const& item : steps_.items) {
      if (item.meeting != nothing || item.is_from_before) continue;
      if (item.kind == replay::work_kind::kernel && is_collective(item.name)) continue;
      auto const cause =
          item.kind == replay::work_kind::kernel ? late_cause::kernels : late_cause::copies;
      auto const rank = steps_.rank_of(item);
      auto const ns = static_cast<double>(item.length_ns());
      if (cause == late_cause::copies) {
        works_[rank][place_of(cause)][item.name] += ns;
        continue;
      }
      auto& of = kernels[rank][item.name];
      auto const is_disturbed = held_ns(rank, item.start_ns, item.end_ns) > 0;
      (is_disturbed ? of.disturbed : of.undisturbed) += 1;
      (is_disturbed ? of.disturbed_ns : of.ns) += ns;
    }
    for (std::uint32_t rank = 0; rank < steps_.ranks(); ++rank)
      for (auto const& [name, of] : kernels[rank])
        works_[rank][place_of(late_cause::kernels)][name] +=
            of.undisturbed > 0 ? of.ns * (1 + of.disturbed / of.undisturbed) : of.disturbed_ns;
  }

  void add_points() {
    auto const& lanes = joined_.lanes();
    for (auto const& point : lanes.points) {
      auto const rank = lanes.rank_of_lane[point.lane];
      if (!lanes.is_of_steps(point.lane)) continue;
      auto const work =
          std::max(0.0, static_cast<double>(point.work_ns) -
                            held_ns(rank, point.begin_ns - point.work_ns, point.begin_ns));
      auto const name = point.range != nothing ? steps_.ranges[point.range].name : nothing;
      works_[rank][place_of(late_cause::cpu_work)][name] += work;
      std::set<std::uint32_t> around;
      for (auto range = point.range; range != nothing; range = steps_.ranges[range].parent)
        around.insert(steps_.ranges[range].name);
      for (auto const outer : around) cpu_in_[rank][outer] += work;
      if (point.kind == replay::point_kind::call && !is_wait(point.call) &&
          point.call != call_kind::launch && point.call != call_kind::blocking_copy)
        works_[rank][place_of(late_cause::calls)][point.name] +=
            static_cast<double>(point.end_ns - point.begin_ns) -
            held_ns(rank, point.begin_ns, point.end_ns);
    }
  }

  /// Also one without a counterpart on the other ranks: its time is a wait, too.
  bool is_collective(std::uint32_t name) {
    auto const [at, is_new] = collectives_.try_emplace(name, false);
    if (is_new) at->second = is_named_as_collective(steps_.work_names[name]);
    return at->second;
  }

  double of_others(std::uint32_t rank, std::size_t cause, std::uint32_t name) const {
    std::vector<double> others;
    for (std::uint32_t other = 0; other < steps_.ranks(); ++other) {
      if (other == rank) continue;
      auto const at = works_[other][cause].find(name);
      others.push_back(at != works_[other][cause].end() ? at->second : 0);
    }
    return median_of(std::move(others));
  }

  std::string const& text_of(late_cause cause, std::uint32_t name) const {
    static std::string const none;
    auto const& names = cause == late_cause::cpu_work ? steps_.range_names
                        : cause == late_cause::calls  ? steps_.call_names
                        : cause == late_cause::kernels && !steps_.base_names.empty()
                            ? steps_.base_names
                            : steps_.work_names;
    return name < names.size() ? names[name] : none;
  }

  /// The repair that lets a rank do as much of this as the others.
  std::optional<replay::repair> repair_of(std::uint32_t rank, late_cause cause, std::uint32_t name,
                                          double its, double more) const {
    if (its <= 0) return std::nullopt;
    replay::repair made;
    made.value = std::max(0.0, 1 - more / its);
    made.scope.rank = rank;
    if (cause == late_cause::cpu_work && name == nothing) {
      made.kind = replay::repair_kind::scale_between;
      return made;
    }
    std::size_t names = steps_.work_names.size();
    made.kind = replay::repair_kind::scale;
    if (cause == late_cause::cpu_work) {
      made.kind = replay::repair_kind::scale_cpu;
      names = steps_.range_names.size();
      // Its own part of all CPU work inside, which the edit scales.
      auto const inside = cpu_in_[rank].find(name);
      if (inside == cpu_in_[rank].end() || inside->second <= 0) return std::nullopt;
      made.value = std::max(0.0, 1 - more / inside->second);
    } else if (cause == late_cause::calls) {
      made.kind = replay::repair_kind::scale_calls;
      names = steps_.call_names.size();
    }
    made.names.assign(names, false);
    made.names[name] = true;
    return made;
  }

  std::optional<late_rank> look_at(std::uint32_t rank, double step_ns) {
    auto const& of = late_[rank];
    late_rank one;
    one.rank = rank;
    one.collectives = of.collectives;
    one.last_in = of.last_in;
    one.steps = steps_.steps;
    double sum = 0;
    for (auto const& [_, ns] : of.by_step) {
      sum += ns;
      one.late_steps += ns >= late_share * step_ns;
    }
    one.late_ns = sum / static_cast<double>(steps_.steps);
    if (2 * one.late_steps <= one.steps || one.late_ns < late_share * step_ns) return std::nullopt;
    auto const repairs = explain(one);
    if (one.more_ns < least_explained * one.late_ns) return std::nullopt;
    one.is_replayed = has_calls_ && !is_held_ && !repairs.empty();
    if (one.is_replayed) {
      auto const then = replay::foretell(joined_, repairs);
      one.least_gain_ns = std::max(0.0, then.least_gain_ns());
      one.greatest_gain_ns = std::max(0.0, then.greatest_gain_ns());
    } else {
      one.greatest_gain_ns = one.late_ns;
    }
    return one;
  }

  /// Sets the cause, and returns the repairs of all that takes longer than on the other ranks.
  std::vector<replay::repair> explain(late_rank& one) const {
    struct part {
      std::uint32_t name = 0;
      double more = 0, its = 0;
    };
    std::array<std::vector<part>, cause_count> parts;
    std::array<double, cause_count> sums{};
    for (std::size_t cause = 0; cause < cause_count; ++cause) {
      for (auto const& [name, its] : works_[one.rank][cause]) {
        auto const more = its - of_others(one.rank, cause, name);
        sums[cause] += more;  // what it does less counts, too: it may have other kernels
        if (more > 0) parts[cause].push_back({name, more, its});
      }
      for (std::uint32_t other = 0; other < steps_.ranks(); ++other)
        if (other != one.rank) subtract_missing(one.rank, other, cause, sums[cause]);
      std::sort(parts[cause].begin(), parts[cause].end(),
                [](auto const& a, auto const& b) { return a.more > b.more; });
    }
    auto const most = std::max_element(sums.begin(), sums.end());
    auto const which = static_cast<std::size_t>(most - sums.begin());
    one.cause = static_cast<late_cause>(which);
    one.more_ns = std::max(0.0, *most) / static_cast<double>(steps_.steps);
    if (!parts[which].empty()) one.what = text_of(one.cause, parts[which].front().name);
    std::vector<replay::repair> repairs;
    for (auto const& [name, more, its] : parts[which])
      if (more >= least_of_cause * *most)
        if (auto made = repair_of(one.rank, one.cause, name, its, more))
          repairs.push_back(*std::move(made));
    return repairs;
  }

  /// Work that only other ranks have is what this one does less.
  void subtract_missing(std::uint32_t rank, std::uint32_t other, std::size_t cause,
                        double& sum) const {
    for (auto const& [name, _] : works_[other][cause]) {
      if (works_[rank][cause].contains(name)) continue;
      auto first = other;  // counted once, for the first rank that has it
      for (std::uint32_t before = 0; before < other; ++before)
        if (before != rank && works_[before][cause].contains(name)) first = before;
      if (first == other) sum -= of_others(rank, cause, name);
    }
  }

  replay::step_graph const& joined_;
  replay::recorded_steps const& steps_;
  bool has_calls_;
  std::vector<std::vector<std::int64_t>> begins_;  // of steps, by rank
  std::map<std::uint32_t, bool> collectives_;      // by name
  std::vector<lateness> late_;
  std::vector<work_of_rank> works_;
  std::vector<times_by_name> cpu_in_;  // CPU work in ranges and in those inside
  // When the profiler held a rank, and when its GPUs were idle meanwhile.
  std::vector<held_times> held_, held_idle_;
  bool is_held_ = false;                                 // for longer than a replay can pass over
  std::vector<std::vector<std::int64_t>> meeting_ends_;  // by rank
};

}  // namespace

std::vector<late_rank> find_late_ranks(replay::step_graph const& joined, bool has_calls) {
  return rank_finder(joined, has_calls).all();
}

}  // namespace gpuprof::host::advice
