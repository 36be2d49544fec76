// SPDX-License-Identifier: Apache-2.0
#include "host/compare/remarks.hpp"

#include "host/compare/run_digest.hpp"

#include <algorithm>
#include <set>

namespace gpuprof::host::compare {
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

/// Ranks of one job are no repetitions of each other.
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
  if (base_.size() == 1 && fresh_.size() == 1 && base_.front().path == fresh_.front().path)
    lines_.emplace_back("the base and the new capture are the same file");
  if (of_.is_single)
    lines_.emplace_back(
        "one capture a side does not say how far two runs of the same program lie apart: below "
        "2 % of a kernel whose clock is known, or beside the other kernels, 7 % of other time of "
        "the GPU and a factor of 1.65 of the CPU's, a difference is undecided; several captures a "
        "side tell (--base FILE again, more NEW)");
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
