// SPDX-License-Identifier: Apache-2.0
#include "host/compare/comparison.hpp"

#include "host/analysis/timeline/time_bucket.hpp"
#include "host/compare/difference.hpp"
#include "host/compare/kernel_lines.hpp"
#include "host/compare/run_digest.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace gpuprof::host::compare {
namespace {

using side = std::span<run_digest const>;
using series_of_run = std::function<duration_series const*(run_digest const&)>;

/// The length of a range depends on its kernels only if they take this share of its time, and not
/// much more, because then the range ends before its kernels. (Concurrent streams add little.)
constexpr double gpu_bound_share = 0.9, outrun_share = 1.5;

/// The CPU's share of the time of a range.
double host_share(duration_series const& time, duration_series const& gpu) {
  if (time.total() <= 0) return 1;
  auto const share = gpu.total() / time.total();
  return share > outrun_share ? 1 : std::max(0.0, 1 - share);
}

bool all_have_steps(side runs, std::string const& name) {
  return std::all_of(runs.begin(), runs.end(), [&](run_digest const& run) {
    return run.step && run.step->count > 0 && run.step->name == name;
  });
}

std::set<std::string> gpu_models(side runs) {
  std::set<std::string> models;
  for (auto const& run : runs) models.insert(run.gpus.begin(), run.gpus.end());
  return models;
}

class comparer {
 public:
  comparer(side base, side fresh) : base_(base), fresh_(fresh) {}

  comparison run() {
    auto const& step = base_.front().step;
    if (step && all_have_steps(base_, step->name) && all_have_steps(fresh_, step->name))
      found_.step = step->name;
    found_.is_single = base_.size() == 1 && fresh_.size() == 1;
    found_.is_by_roof = gpu_models(base_) != gpu_models(fresh_);
    kernels_ = compare_kernels(base_, fresh_, {!found_.step.empty(), found_.is_by_roof});
    if (kernels_.shared) found_.shared = std::expm1(*kernels_.shared);
    if (!kernels_.base_clock.empty())
      found_.clock = std::expm1(mean(kernels_.fresh_clock) - mean(kernels_.base_clock));
    found_.is_same = std::equal(base_.begin(), base_.end(), fresh_.begin(), fresh_.end(),
                                [](auto const& a, auto const& b) { return a.path == b.path; });
    add_run();
    add_steps();
    add_ranges();
    add_source_lines();
    for (auto& line : kernels_.lines) found_.lines.push_back(std::move(line));
    add_shares(line_kind::bucket);
    add_shares(line_kind::finding);
    judge_all();
    std::stable_sort(found_.lines.begin(), found_.lines.end(), [](auto const& a, auto const& b) {
      if (a.kind != b.kind) return a.kind < b.kind;
      return std::abs(a.cost_ns) > std::abs(b.cost_ns);
    });
    found_.remarks = remarks_on(found_, base_, fresh_);
    return std::move(found_);
  }

 private:
  static double mean(std::vector<double> const& values) {
    double sum = 0;
    for (auto const value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }

  void add_run();
  void add_steps();
  void add_ranges();
  void add_source_lines();
  void add_timed(line_kind kind, std::string name, series_of_run const& time,
                 series_of_run const& gpu);
  void take_clock_out(difference& line) const;
  double host_share_of(series_of_run const& time, series_of_run const& gpu) const;
  void add_shares(line_kind kind);
  void widen_shares(double alpha);
  void judge_all();

  side base_, fresh_;
  kernel_lines kernels_;
  comparison found_;
};

/// Adds the captured time. It happens once in a run: with one run per side, nothing says how far
/// two runs of one program lie apart, and it is not judged.
void comparer::add_run() {
  difference line;
  line.kind = line_kind::run;
  line.name = "run";
  double on_gpu = 1;
  auto const take = [&](side runs, std::vector<observations::run>& to) {
    amount of;
    for (auto const& run : runs) {
      auto const ns = static_cast<double>(run.window_ns);
      of.call_ns += ns / static_cast<double>(runs.size());
      to.push_back({std::log(std::max(ns, 1.0)), 0, 1});
      on_gpu = std::min(on_gpu, static_cast<double>(run.kernel_ns) / std::max(ns, 1.0));
    }
    of.calls = 1;
    of.total_ns = of.call_ns;
    return of;
  };
  line.base = take(base_, line.of.left.base);
  line.fresh = take(fresh_, line.of.left.fresh);
  if (!(line.base->call_ns > 0) || !(line.fresh->call_ns > 0)) return;
  line.cost_ns = line.fresh->call_ns - line.base->call_ns;
  line.change = line.fresh->call_ns / line.base->call_ns - 1;
  line.of.left.floor = std::hypot((1 - on_gpu) * host_floor, on_gpu * run_floor);
  if (found_.is_by_roof || found_.is_single)
    line.of = {};
  else if (on_gpu >= gpu_bound_share)
    take_clock_out(line);
  found_.lines.push_back(std::move(line));
}

void comparer::add_steps() {
  if (found_.step.empty()) return;
  auto const gpu = [](run_digest const& run) { return &run.step->of.gpu; };
  add_timed(
      line_kind::step, found_.step, [](run_digest const& run) { return &run.step->of.durations; },
      gpu);
  add_timed(line_kind::gpu_time, "kernels of a " + found_.step, gpu, gpu);
}

void comparer::add_ranges() {
  std::set<std::string> names;
  for (auto const& runs : {base_, fresh_})
    for (auto const& run : runs)
      for (auto const& [name, _] : run.ranges) names.insert(name);
  for (auto const& name : names) {
    auto const of = [&](duration_series range_line::*series) {
      return [&name, series](run_digest const& run) -> duration_series const* {
        auto const found = run.ranges.find(name);
        return found == run.ranges.end() ? nullptr : &(found->second.*series);
      };
    };
    add_timed(line_kind::range, name, of(&range_line::durations), of(&range_line::gpu));
  }
}

/// All of their time is GPU time.
void comparer::add_source_lines() {
  auto const kind = base_.front().are_modules ? line_kind::module : line_kind::line;
  std::set<std::string> names;
  for (auto const& runs : {base_, fresh_})
    for (auto const& run : runs)
      for (auto const& [name, _] : run.source_lines) names.insert(name);
  for (auto const& name : names) {
    auto const gpu = [&name](run_digest const& run) -> duration_series const* {
      auto const found = run.source_lines.find(name);
      return found == run.source_lines.end() ? nullptr : &found->second;
    };
    add_timed(kind, name, gpu, gpu);
  }
}

void comparer::add_timed(line_kind kind, std::string name, series_of_run const& time,
                         series_of_run const& gpu) {
  difference line;
  line.kind = kind;
  line.name = std::move(name);
  auto const values = [&](side runs) {
    std::vector<line_value> all;
    for (auto const& run : runs) {
      auto const* const series = time(run);
      all.push_back(series != nullptr ? value_of(*series) : line_value{});
    }
    return all;
  };
  auto const base = values(base_), fresh = values(fresh_);
  auto const is_there = [](auto const& of) {
    return std::any_of(of.begin(), of.end(), [](auto const& value) { return value.launches > 0; });
  };
  auto const by_step = !found_.step.empty();
  if (is_there(base)) line.base = amount_of(base_, base, by_step);
  if (is_there(fresh)) line.fresh = amount_of(fresh_, fresh, by_step);
  if (!line.base && !line.fresh) return;
  if (kind == line_kind::step || kind == line_kind::gpu_time)
    for (auto* one : {&line.base, &line.fresh}) {
      if (!*one || (*one)->calls <= 0) continue;
      (*one)->total_ns /= (*one)->calls;  // the steps of the warm-up are not in it
      (*one)->calls = 1;
    }
  line.how = !line.base ? match_kind::added : !line.fresh ? match_kind::gone : match_kind::same;
  line.cost_ns =
      (line.fresh ? line.fresh->usual_ns() : 0) - (line.base ? line.base->usual_ns() : 0);
  if (line.base && line.fresh && line.base->call_ns > 0)
    line.change = line.fresh->call_ns / line.base->call_ns - 1;
  if (are_known(base) && are_known(fresh) && !found_.is_by_roof) {
    for (auto const& value : base)
      line.of.left.base.push_back({std::log(value.call_ns), value.error, value.freedom});
    for (auto const& value : fresh)
      line.of.left.fresh.push_back({std::log(value.call_ns), value.error, value.freedom});
    auto const host = host_share_of(time, gpu);
    line.of.left.floor = std::hypot(host * host_floor, (1 - host) * run_floor);
    if (host <= 1 - gpu_bound_share) take_clock_out(line);
  }
  found_.lines.push_back(std::move(line));
}

/// The greatest share of any run.
double comparer::host_share_of(series_of_run const& time, series_of_run const& gpu) const {
  double greatest = 0;
  for (auto const& runs : {base_, fresh_})
    for (auto const& run : runs) greatest = std::max(greatest, host_share(*time(run), *gpu(run)));
  return greatest;
}

/// Removes the effect of the clock if kernels take nearly all of the time.
void comparer::take_clock_out(difference& line) const {
  if (kernels_.base_clock.empty()) return;
  auto const take = [](std::vector<observations::run>& values, std::vector<double> const& clock) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i].value -= clock[i];
  };
  take(line.of.left.base, kernels_.base_clock);
  take(line.of.left.fresh, kernels_.fresh_clock);
  line.by_clock = found_.clock;
  if (line.kind == line_kind::gpu_time) line.of.left.floor = kernel_floor;
}

/// Adds buckets or findings, as shares of the steps or of the window. They have no repetitions:
/// with one run per side the noise is only the floor, and they are not judged if nothing repeats in
/// the run.
void comparer::add_shares(line_kind kind) {
  auto const shares_of = [kind](run_digest const& run) {
    auto shares =
        kind == line_kind::bucket ? run.buckets : run.findings.value_or(decltype(run.buckets){});
    auto const all_ns = run.ledger_ns > 0 ? run.ledger_ns : static_cast<double>(run.window_ns);
    if (kind == line_kind::bucket && all_ns > 0)
      for (auto& [_, ns] : shares) ns /= all_ns;
    return shares;
  };
  auto const is_there = [kind](run_digest const& run) {
    return kind == line_kind::bucket ? !run.buckets.empty() : run.findings.has_value();
  };
  std::set<std::string> names;
  for (auto const& runs : {base_, fresh_}) {
    if (!std::all_of(runs.begin(), runs.end(), is_there)) return;
    for (auto const& run : runs)
      for (auto const& [name, _] : shares_of(run)) names.insert(name);
  }
  if (kind == line_kind::finding) found_.has_findings = true;
  for (auto const& name : names) {
    difference line;
    line.kind = kind;
    line.name = name;
    line.of.left.floor = share_floor;
    // A slower clock lengthens a kernel but not its time at the roof, so the possible saving grows
    // without any change of the program.
    if (kind == line_kind::finding) line.of.left.floor += std::abs(found_.clock.value_or(0));
    auto const take = [&](side runs, std::vector<observations::run>& to) {
      amount of;
      double sum = 0, ns = 0;
      for (auto const& run : runs) {
        if (auto const time = run.buckets.find(name);
            kind == line_kind::bucket && time != run.buckets.end())
          ns += time->second / (run.ledger_steps > 0 ? static_cast<double>(run.ledger_steps)
                                                     : steps_of(run, !found_.step.empty()));
        auto const shares = shares_of(run);
        auto const found = shares.find(name);
        auto const share = found == shares.end() ? 0 : found->second;
        if (!found_.is_single || !found_.step.empty()) to.push_back({share, 0, 1});
        sum += share;
      }
      of.window_share = sum / static_cast<double>(runs.size());
      of.call_ns = of.total_ns = ns / static_cast<double>(runs.size());
      return of;
    };
    line.base = take(base_, line.of.left.base);
    line.fresh = take(fresh_, line.of.left.fresh);
    line.cost_ns = line.fresh->usual_ns() - line.base->usual_ns();
    found_.lines.push_back(std::move(line));
  }
}

/// A greater share of computing is neither better nor worse: something else takes less. Kernels and
/// steps say if it takes longer.
bool is_work(difference const& line) {
  return line.kind == line_kind::bucket &&
         (line.name == name_of(time_bucket::compute) ||
          line.name == name_of(time_bucket::compute_and_communication));
}

/// With one run per side, shares are no surer than the length of a step: if the same work takes a
/// step longer, more of it is idle.
void comparer::widen_shares(double alpha) {
  if (!found_.is_single) return;
  double noise = 0, busy = 1;
  for (auto const& line : found_.lines) {
    if (line.kind == line_kind::step) noise = judge(line.of, alpha).left.half_width();
    if (line.kind == line_kind::bucket && line.name == idle_sum && line.base)
      busy = 1 - line.base->window_share.value_or(0);
  }
  for (auto& line : found_.lines) {
    if (line.kind != line_kind::bucket && line.kind != line_kind::finding) continue;
    auto const is_of_idle_time = line.kind == line_kind::finding || line.name.starts_with(idle_sum);
    auto const moved = is_of_idle_time ? busy : line.base ? line.base->window_share.value_or(0) : 0;
    line.of.left.floor = std::hypot(line.of.left.floor, moved * noise);
  }
}

void comparer::judge_all() {
  for (auto const& line : found_.lines)
    found_.tested += !is_work(line) && judge(line.of, error_rate).is != verdict::not_tested;
  auto const alpha = error_rate / std::max(1.0, static_cast<double>(found_.tested));
  widen_shares(alpha);
  for (auto& line : found_.lines) {
    auto const judged = judge(line.of, alpha);
    line.is = is_work(line) ? verdict::not_tested : judged.is;
    line.left = judged.left;
    line.besides = judged.besides;
    line.is_by_besides = judged.is_by_besides;
  }
}

}  // namespace

comparison compare_runs(side base, side fresh) {
  return comparer(base, fresh).run();
}

namespace {

using side = std::span<run_digest const>;

std::string listed(std::set<std::string> const& words) {
  std::string all;
  for (auto const& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

std::set<std::string> all_of(side runs, std::vector<std::string> run_digest::*list) {
  std::set<std::string> words;
  for (auto const& run : runs) words.insert((run.*list).begin(), (run.*list).end());
  return words;
}

class remarks {
 public:
  remarks(comparison const& of, side base, side fresh) : of_(of), base_(base), fresh_(fresh) {}

  std::vector<std::string> take() {
    about_gpus();
    about_programs();
    about_ranks();
    about_runs();
    about_clock();
    about_steps();
    for (auto const& runs : {base_, fresh_})
      for (auto const& run : runs) about_losses(run);
    return std::move(lines_);
  }

 private:
  void about_gpus();
  void about_programs();
  void about_ranks();
  void about_runs();
  void about_clock();
  void about_steps();
  void about_losses(run_digest const& run);

  comparison const& of_;
  side base_, fresh_;
  std::vector<std::string> lines_;
};

void remarks::about_gpus() {
  if (of_.is_by_roof) {
    lines_.emplace_back("the GPUs differ (" + listed(all_of(base_, &run_digest::gpus)) + "; " +
                        listed(all_of(fresh_, &run_digest::gpus)) +
                        "): times are shown, what is judged is each kernel's share of the measured "
                        "roof of its own GPU; steps and ranges are not judged");
  } else if (all_of(base_, &run_digest::uuids) != all_of(fresh_, &run_digest::uuids)) {
    lines_.emplace_back(
        "the GPUs are of one model but not the same ones: these differ by some per "
        "cent themselves");
  }
}

void remarks::about_programs() {
  if (auto const different = programs_differ(base_, fresh_); !different.empty())
    lines_.emplace_back("different programs: " + different);
  auto const &before = base_.front(), &after = fresh_.front();
  if (before.command_line != after.command_line && !before.command_line.empty() &&
      !after.command_line.empty())
    lines_.emplace_back("the command lines differ: " + before.command_line + "; " +
                        after.command_line);
  if (before.has_counters != after.has_counters)
    lines_.emplace_back(
        "counters were read in " + (before.has_counters ? before : after).path +
        " alone: reading them lengthens steps, compare captures of the same options");
}

/// Warns about several ranks of one job on a side, because they are not repetitions.
void remarks::about_ranks() {
  auto const ranks_of = [](side runs) {
    std::set<std::string> ranks;
    for (auto const& run : runs)
      if (run.rank) ranks.insert(std::to_string(*run.rank));
    return ranks;
  };
  auto const before = ranks_of(base_), after = ranks_of(fresh_);
  if (before.size() > 1 || after.size() > 1)
    lines_.emplace_back(
        "captures of several ranks (" + listed(before) + "; " + listed(after) +
        ") are taken as repetitions of one run, which they are not: compare rank by "
        "rank");
  else if (before != after && !before.empty() && !after.empty())
    lines_.emplace_back("the base is of rank " + listed(before) + ", the new runs of rank " +
                        listed(after));
}

void remarks::about_runs() {
  if (of_.is_same) lines_.emplace_back("the base and the new capture are the same file");
  if (of_.is_single)
    lines_.emplace_back(
        "with one capture a side, changes below 2 % (kernels), 7 % (other GPU time) and 65 % (CPU) "
        "count as noise; record several: --base FILE again, more NEW");
  for (auto const& runs : {base_, fresh_})
    for (auto const& run : runs)
      if (run.kernels.empty()) lines_.emplace_back(run.path + " holds no kernels");
}

void remarks::about_clock() {
  if (of_.clock || of_.is_by_roof) return;
  auto const has_kernels = [](side runs) {
    return std::any_of(runs.begin(), runs.end(), [](auto const& r) { return !r.kernels.empty(); });
  };
  if (has_kernels(base_) && has_kernels(fresh_))
    lines_.emplace_back(
        "the SM clock is not known for most of the kernels' time on both sides (profile --metrics "
        "auto records it, peaks say which kernels depend on it): a slower GPU cannot be told from "
        "slower kernels");
}

void remarks::about_steps() {
  if (base_.front().ledger_steps > 0)
    lines_.emplace_back("the time ledger and the findings are about the steps without warm-up");
  if (!of_.step.empty()) return;
  auto const& before = base_.front().step;
  auto const& after = fresh_.front().step;
  if (before && after && before->name != after->name)
    lines_.emplace_back("the steps are called '" + before->name + "' and '" + after->name +
                        "': name one with --step; totals are of the runs");
  else
    lines_.emplace_back(
        "no range repeats on both sides (--step NAME takes one, see nvtx_sum of "
        "gpuprof stats): totals are of the runs");
}

void remarks::about_losses(run_digest const& run) {
  for (auto const& line : run.missing)
    lines_.emplace_back("missing from " + run.path + ": " + line);
}

}  // namespace

std::vector<std::string> remarks_on(comparison const& of, side base, side fresh) {
  return remarks(of, base, fresh).take();
}

}  // namespace gpuprof::host::compare
