// SPDX-License-Identifier: Apache-2.0
#include "host/advice/rules/group/group_finding.hpp"

#include "host/advice/rules/idle_sum.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host::advice {

std::vector<stated_repair> repairs_of(work_group const& group) {
  std::vector<stated_repair> made;
  auto gone = group.all;
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (group.kept[i]) gone[i] = false;
  if (std::find(gone.begin(), gone.end(), true) != gone.end())
    made.push_back({.kind = replay::repair_kind::drop,
                    .at_best = group.is_prepared ? 1.0 : 0.0,
                    .items = std::move(gone)});
  if (group.kept_ns > 0)
    made.push_back({.kind = replay::repair_kind::scale,
                    .sure = group.sure_ns / group.kept_ns,
                    .at_best = group.least_ns / group.kept_ns,
                    .items = group.kept});
  if (group.beside_ns > 0 && group.beside_least_ns < group.beside_ns)
    made.push_back({.kind = replay::repair_kind::scale,
                    .sure = 1,
                    .at_best = group.beside_least_ns / group.beside_ns,
                    .items = group.beside});
  return made;
}

double per_step(run_facts const& facts, double of_all) {
  return of_all / std::max(1.0, facts.steps_of_groups);
}

std::string in_time_of_step(run_facts const& facts, double of_all_ns) {
  return in_time(per_step(facts, of_all_ns)) + (facts.are_stretches ? " a stretch" : " a step");
}

std::string how_often(run_facts const& facts, double instances) {
  if (facts.are_stretches) {
    auto const all = std::round(std::max(1.0, instances * steps_per_recorded(facts)));
    return in_times(static_cast<std::uint64_t>(all));
  }
  auto const times = per_step(facts, instances);
  return times >= 1.5 ? in_count(std::max(1.0, times)) + " times a step" : "in each step";
}

double steps_per_recorded(run_facts const& facts) {
  return facts.all_steps_of_groups / std::max(1.0, facts.steps_of_groups);
}

double time_of_launches(run_facts const& facts, work_group const& group) {
  auto const launching = facts.run.launch_distance + facts.run.back_to_back;
  auto const own = group.total_ns + static_cast<double>(group.launches) * launching;
  double allocating = 0;
  if (group.is_prepared)
    for (auto const& device : facts.devices) allocating += device.ledger[time_bucket::allocation];
  return steps_per_recorded(facts) * own + allocating;
}

finding finding_on(run_facts const& facts, work_group const& group, std::string what) {
  finding one;
  one.what = std::move(what);
  one.line = group.line;
  one.module = group.module;
  one.instances = static_cast<std::uint64_t>(
      std::llround(static_cast<double>(group.instances) * steps_per_recorded(facts)));
  one.bucket = time_bucket::compute;
  one.further_buckets = {time_bucket::back_to_back, time_bucket::launch_bound};
  auto const factor = steps_per_recorded(facts);
  one.gain = {factor * std::max(0.0, group.total_ns - group.sure_ns),
              factor * std::max(0.0, group.total_ns - group.least_ns)};
  one.within_ns = factor * (group.total_ns + group.beside_ns) + idle_of_gpus(facts);
  one.family = "group " + std::to_string(group.number);
  auto const launches = static_cast<double>(group.launches);
  if (facts.are_stretches)
    one.because = {{"GPU time", factor * group.total_ns, "ns", "traced"},
                   {"launches", std::round(factor * launches), "", "traced"}};
  else
    one.because = {{"GPU time a step", per_step(facts, group.total_ns), "ns", "traced"},
                   {"launches a step", per_step(facts, launches), "", "traced"}};
  one.repairs = repairs_of(group);
  return one;
}

work_group without_remainder(work_group group) {
  group.kept.assign(group.all.size(), false);
  group.kept_ns = group.least_ns = group.sure_ns = 0;
  return group;
}

}  // namespace gpuprof::host::advice
