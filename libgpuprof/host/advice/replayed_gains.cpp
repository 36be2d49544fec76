// SPDX-License-Identifier: Apache-2.0
#include "host/advice/replayed_gains.hpp"

#include "host/advice/gain_words.hpp"
#include "host/advice/wording.hpp"
#include "host/analysis/steps.hpp"
#include "host/replay/replay.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host::advice {
namespace {

using replay::cpu_work_before;
using replay::error_of_gain;
using replay::name_set;
using replay::repair;
using replay::repair_kind;
using replay::step_edit;

/// The repairs of one finding, in terms of the graph.
struct found_repairs {
  std::vector<repair> sure, at_best;
};

enum class subject { work, call, range, nothing };

subject subject_of(repair_kind kind) noexcept {
  switch (kind) {
    case repair_kind::drop:
    case repair_kind::drop_and_use:
    case repair_kind::merge:
    case repair_kind::scale:
    case repair_kind::overlap:
      return subject::work;
    case repair_kind::drop_calls:
    case repair_kind::scale_calls:
      return subject::call;
    case repair_kind::scale_cpu:
    case repair_kind::as_graph:
      return subject::range;
    default:
      return subject::nothing;
  }
}

class repair_names {
 public:
  explicit repair_names(replay::recorded_steps const& recorded, run_facts const& facts)
      : recorded_(recorded) {
    for (auto const& kernel : facts.kernels) total_ns_[kernel.name] += kernel.total_ns;
  }

  /// Nothing: one of the names does not occur.
  std::optional<found_repairs> find(std::span<stated_repair const> stated) const {
    found_repairs found;
    for (auto const& one : joined(stated)) {
      repair made{.kind = one.kind, .limit_ns = one.limit_ns};
      auto const of = subject_of(one.kind);
      if (of != subject::nothing) {
        made.names = one.items.empty() ? names_of(of, one.names)
                                       : name_set(recorded_.work_names.size(), true);
        if (!has_any(made.names)) return std::nullopt;
      }
      made.scope.max_bytes = one.max_bytes;
      made.scope.items = one.items;
      if (!one.within.empty()) {
        made.scope.ranges = ranges_of({one.within});
        if (!has_any(made.scope.ranges)) return std::nullopt;
      }
      add(found, one, std::move(made));
    }
    return found;
  }

 private:
  /// What several shapes of a kernel save is saved of the time of the kernel: one repair for all.
  static std::vector<stated_repair> joined(std::span<stated_repair const> stated) {
    std::vector<stated_repair> made;
    for (auto const& one : stated) {
      auto const same = std::find_if(made.begin(), made.end(), [&](auto const& known) {
        return known.saved_high_ns > 0 && one.saved_high_ns > 0 && known.kind == one.kind &&
               known.names == one.names && known.within == one.within &&
               known.max_bytes == one.max_bytes;
      });
      if (same == made.end()) {
        made.push_back(one);
      } else {
        same->saved_low_ns += one.saved_low_ns;
        same->saved_high_ns += one.saved_high_ns;
      }
    }
    return made;
  }

  static bool has_any(name_set const& set) {
    return std::find(set.begin(), set.end(), true) != set.end();
  }

  void add(found_repairs& to, stated_repair const& stated, repair made) const {
    auto const total_ns = total_of(stated.names);
    auto const is_of_kernel = stated.saved_high_ns > 0 && total_ns > 0;
    auto const with = [&](double value, double saved_ns) {
      auto one = made;
      one.value = is_of_kernel ? std::max(0.0, 1 - saved_ns / total_ns) : value;
      if (stated.kind == repair_kind::pin && stated.to_host) std::swap(one.value, one.to_host);
      return one;
    };
    if (!stated.is_only_at_best) to.sure.push_back(with(stated.sure, stated.saved_low_ns));
    to.at_best.push_back(with(stated.at_best, stated.saved_high_ns));
  }

  double total_of(std::vector<std::string> const& names) const {
    double ns = 0;
    for (auto const& name : names)
      if (auto const known = total_ns_.find(name); known != total_ns_.end()) ns += known->second;
    return ns;
  }

  name_set names_of(subject of, std::vector<std::string> const& names) const {
    if (of == subject::range) return ranges_of(names);
    auto const& all = of == subject::call ? recorded_.call_names : recorded_.work_names;
    name_set set(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      set[i] =
          is_one_of(names, all[i]) || (of == subject::work && i < recorded_.base_names.size() &&
                                       is_one_of(names, recorded_.base_names[i]));
    return set;
  }

  /// Ranges that differ only in a number have one name in findings.
  name_set ranges_of(std::vector<std::string> const& names) const {
    name_set set(recorded_.range_names.size());
    for (std::size_t i = 0; i < set.size(); ++i)
      set[i] = is_one_of(names, recorded_.range_names[i]) ||
               is_one_of(names, without_number(recorded_.range_names[i]));
    return set;
  }

  static bool is_one_of(std::vector<std::string> const& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  replay::recorded_steps const& recorded_;
  std::map<std::string, double> total_ns_;  // of kernels in the run
};

/// The edits of the findings so far, and the steps with them.
class running_edit {
 public:
  /// `cpu`: what CPU work takes, as a factor.
  running_edit(replay::step_graph const& graph, cpu_work_before before, run_facts const& facts,
               double cpu = 1)
      : edit_(graph, before) {
    if (cpu != 1) edit_.scale_cpu(cpu);
    // Without this profiler, so that its cost is not a gain.
    auto const launch_ns = static_cast<double>(graph.pace().launch_ns);
    if (launch_ns > 0) edit_.set_launch_cost(std::max(0.0, launch_ns - facts.own_ns_a_launch));
    if (facts.run.round_trip > 0) edit_.set_round_trip(facts.run.round_trip);
    own_ns_ = step_ns_ = replay::step_ns(edit_);
  }

  double step_ns() const noexcept { return step_ns_; }
  /// Without any repair.
  double own_ns() const noexcept { return own_ns_; }
  double saved_by(std::span<repair const> repairs) const {
    auto edit = edit_;
    replay::apply(repairs, edit);
    return step_ns_ - replay::step_ns(edit);
  }
  /// Returns what the repairs save of a step.
  double take(std::span<repair const> repairs) {
    replay::apply(repairs, edit_);
    auto const before_ns = step_ns_;
    step_ns_ = replay::step_ns(edit_);
    return before_ns - step_ns_;
  }
  replay::path_part longest_part() const {
    auto const path = replay::path_of(edit_, replay::replay(edit_));
    auto const longest = std::max_element(path.ns.begin(), path.ns.end());
    return static_cast<replay::path_part>(longest - path.ns.begin());
  }

 private:
  step_edit edit_;
  double own_ns_ = 0, step_ns_ = 0;
};

constexpr std::size_t fewest_steps = 10;  // to tell quick ones from slow ones

/// The CPU work that a tenth of the steps stays below, and a tenth exceeds, as factors of the mean.
std::vector<double> spread_of_cpu_work(replay::step_graph const& graph) {
  step_edit const unchanged(graph);
  std::vector<double> steps;
  double sum = 0;
  for (std::size_t q = 0; q < graph.points().size(); ++q) {
    auto const& point = graph.points()[q];
    if (point.lane != 0) continue;
    if (point.kind == replay::point_kind::step_begin) steps.push_back(0);
    if (steps.empty()) continue;
    auto const work = static_cast<double>(unchanged.work_ns()[q]);
    steps.back() += work;
    sum += work;
  }
  if (steps.size() < fewest_steps || sum <= 0) return {};
  std::sort(steps.begin(), steps.end());
  auto const mean = sum / static_cast<double>(steps.size());
  return {steps[steps.size() / 10] / mean, steps[steps.size() - 1 - steps.size() / 10] / mean};
}

/// The same repairs in steps with little CPU work and in steps with much.
class spread_edits {
 public:
  spread_edits(replay::step_graph const& graph, cpu_work_before before, run_facts const& facts) {
    for (auto const cpu : spread_of_cpu_work(graph)) edits_.emplace_back(graph, before, facts, cpu);
  }

  /// What the repairs save as shares of such steps.
  std::vector<double> take(std::span<repair const> repairs) {
    std::vector<double> shares;
    for (auto& one : edits_)
      if (one.own_ns() > 0) shares.push_back(one.take(repairs) / one.own_ns());
    return shares;
  }

 private:
  std::vector<running_edit> edits_;
};

bool is_of_host(replay::path_part part) noexcept {
  return part == replay::path_part::cpu_work || part == replay::path_part::calls ||
         part == replay::path_part::start;
}

/// A shorter kernel need not make the step shorter.
void say_what_hides(finding& one) {
  double claimed_ns = 0;
  for (auto const& repair : one.repairs) claimed_ns += repair.saved_high_ns;
  if (claimed_ns <= 0 || one.gain.high_ns >= claimed_ns / 2 || !one.then || !is_of_host(*one.then))
    return;
  one.is_hidden_by_launches = true;
  one.to_do += " The launching thread holds the steps: they get shorter by only " +
               in_percent(one.gain.high_ns / claimed_ns) +
               " of what this kernel takes less. Launch less or faster first.";
}

/// Recording makes waits longer, by an amount that hides in the CPU work behind them. Returns what
/// the gaps behind them save in any case, if that is known.
std::optional<double> sure_of_wait(finding const& one) noexcept {
  if (one.removed_wait_ns <= 0 || one.gain.low_ns <= 0) return std::nullopt;
  return one.gain.low_ns;
}

struct replayed_step {
  double step_ns;                // with the repairs of findings that save more
  double alone_ns;               // saved by this finding's repairs without those
  double greatest_ns, least_ns;  // saved of `step_ns`
  double gpus;
  bool has_condition;
};

// The fixes of planted faults gave these shares, which no replay can give
// (tests/benchmarks/analysis.md).

/// A fix may save this share more than a replay says: it also removes CPU work without calls, and
/// misses in caches.
constexpr double error_above = 0.1;
/// A fix with a condition saves at least this share, because something takes the place of the work
/// that goes.
constexpr double least_with_replacement = 0.8;
/// Nine of ten fixes saved more than this share of the way from the replay with the least repair to
/// that with the best one.
constexpr double least_of_best = 0.25;

/// What the low gain is, from the replays of the least repair and of the best one. What a kernel
/// lacks to its roof, and what only may belong to the fix, may save nothing at all.
double low_of(double least, double best, finding const& one, found_repairs const& repairs) {
  auto const may_save_nothing = one.claim == kernel_claim::remainder ||
                                one.claim == kernel_claim::symptom ||
                                repairs.sure.size() < repairs.at_best.size();
  auto const low = may_save_nothing ? least : least + least_of_best * std::max(0.0, best - least);
  return one.condition.empty() ? low : least_with_replacement * low;
}

/// "a step of 7.3 ms gets 311 us shorter at best (91 steps replayed, ...): x 91 steps x 1.10 (a
/// fix may save 10 % more) = 31 ms; at least 8.9 us: x 91 steps x 0.95 = 770 us".
std::string arithmetic_of(replayed_step const& of, replayable_steps const& steps) {
  auto const counted = [&](double count) {
    return as_figure(count) + (steps.is_sliced ? " stretches" : " steps");
  };
  auto const product = [&](double saved_ns, double error) {
    char factor[16];
    std::snprintf(factor, sizeof factor, "%.2f", 1 + error);
    return ": x " + counted(steps.all_steps) +
           (of.gpus > 1 ? " x " + in_count(of.gpus) + " GPUs" : std::string()) + " x " + factor +
           (error > 0 ? " (a fix may save " + in_count(100 * error) + " % more) = " : " = ") +
           in_time(saved_ns * (1 + error) * steps.all_steps * of.gpus);
  };
  auto const alone = of.alone_ns > of.greatest_ns * (1 + error_above)
                         ? "after the findings with more; alone it saves " + in_time(of.alone_ns)
                         : std::string("without the cost of this profiler");
  auto const is_any = of.greatest_ns > 0;
  auto const text =
      (steps.is_sliced ? "a stretch of " : "a step of ") + in_time(of.step_ns) + " gets " +
      (is_any ? in_time(of.greatest_ns) : std::string("no")) + " shorter at best (" +
      counted(static_cast<double>(steps.graph->recorded().steps)) + " replayed, " + alone + ")";
  if (!is_any) return text;
  auto const best = text + product(of.greatest_ns, error_above) + "; at least ";
  if (of.least_ns <= 0) return best + "0";
  return best + in_time(of.least_ns) +
         (of.has_condition ? ", with what takes the place of the work" : "") +
         product(of.least_ns, -error_of_gain);
}

struct turn {
  finding* of;
  found_repairs repairs;
  double alone_ns = 0;    // saved of a step
  bool is_later = false;  // another finding explains the same better
};

}  // namespace

bool can_replay(finding const& one, replayable_steps const& steps) {
  auto const& known = steps.graph->recorded().work_names;
  return std::all_of(one.repairs.begin(), one.repairs.end(), [&](auto const& repair) {
    return std::all_of(repair.names.begin(), repair.names.end(), [&](auto const& name) {
      return std::find(known.begin(), known.end(), name) != known.end();
    });
  });
}

double replay_gains(std::vector<finding>& findings, run_facts const& facts,
                    replayable_steps const& steps) {
  auto const& graph = *steps.graph;
  repair_names const names(graph.recorded(), facts);
  running_edit sure(graph, cpu_work_before::stays, facts);
  running_edit at_best(graph, cpu_work_before::goes, facts);
  auto const recorded_ns = replay::step_ns(step_edit(graph));
  auto const own_share = recorded_ns > 0 ? std::min(1.0, at_best.step_ns() / recorded_ns) : 1;
  std::vector<turn> turns;
  for (auto& one : findings) {
    if (one.repairs.empty()) continue;
    auto found = names.find(one.repairs);
    if (!found) continue;
    auto const alone_ns = at_best.saved_by(found->at_best);
    auto const is_later = one.yields_to == every_other_rule ||
                          (!one.yields_to.empty() &&
                           std::any_of(findings.begin(), findings.end(), [&](auto const& other) {
                             return other.rule == one.yields_to && !other.repairs.empty();
                           }));
    turns.push_back({&one, std::move(*found), alone_ns, is_later});
  }
  std::stable_sort(turns.begin(), turns.end(), [](turn const& a, turn const& b) {
    return a.is_later != b.is_later ? b.is_later : a.alone_ns > b.alone_ns;
  });
  auto const gpus = static_cast<double>(std::max<std::size_t>(1, facts.devices.size()));
  auto const times = steps.all_steps * gpus;
  auto const own_ns = at_best.own_ns();
  spread_edits sure_spread(graph, cpu_work_before::stays, facts);
  spread_edits spread(graph, cpu_work_before::goes, facts);
  for (auto& [one, repairs, alone_ns, is_later] : turns) {
    auto const before_ns = at_best.step_ns();
    auto const high_ns = at_best.take(repairs.at_best);
    auto low_ns = low_of(sure.take(repairs.sure), high_ns, *one, repairs);
    if (one->beside_ns > 0) low_ns = std::min(low_ns, before_ns - one->beside_ns / steps.all_steps);
    low_ns = std::min(low_ns, high_ns);  // earlier findings leave less in the best case
    auto const sure_ns = sure_of_wait(*one);
    one->gain.high_ns = std::max(0.0, high_ns * (1 + error_above) * times);
    one->gain.low_ns = std::max(0.0, low_ns * (1 - error_of_gain) * times);
    one->is_replayed = true;
    one->alone_ns = std::max(0.0, alone_ns * (1 + error_above) * times);
    one->then = at_best.longest_part();
    one->arithmetic = arithmetic_of({.step_ns = before_ns,
                                     .alone_ns = alone_ns,
                                     .greatest_ns = high_ns,
                                     .least_ns = low_ns,
                                     .gpus = gpus,
                                     .has_condition = !one->condition.empty()},
                                    steps);
    auto const replayed = one->gain;
    auto const best_shares = spread.take(repairs.at_best);
    auto const least_shares = sure_spread.take(repairs.sure);
    for (auto const share : best_shares)
      if (high_ns > 0)
        one->gain.high_ns = std::max(one->gain.high_ns, share * own_ns * (1 + error_above) * times);
    for (std::size_t i = 0; i < std::min(least_shares.size(), best_shares.size()); ++i)
      one->gain.low_ns = std::clamp(low_of(least_shares[i], best_shares[i], *one, repairs) *
                                        own_ns * (1 - error_of_gain) * times,
                                    0.0, one->gain.low_ns);
    say_change(*one, replayed, "low and high also of steps with little or much CPU work");
    auto const uncut = one->gain;
    one->gain.high_ns = std::min(one->gain.high_ns, before_ns * times);
    say_change(*one, uncut, "at most what earlier findings leave of the steps");
    auto const spread_gain = one->gain;
    if (sure_ns) one->gain.low_ns = std::min(one->gain.low_ns, *sure_ns);
    say_change(*one, spread_gain, "low at most what is sure of the gaps behind the waits");
    say_what_hides(*one);
  }
  return own_share;
}

}  // namespace gpuprof::host::advice
