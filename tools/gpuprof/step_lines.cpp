// SPDX-License-Identifier: Apache-2.0
#include "step_lines.hpp"

#include "analyze/steady_part.hpp"
#include "analyze/step_reading.hpp"
#include "base/readable.hpp"

#include <map>

namespace gpuprof::host::command {
namespace {

/// The number of the step that a line of ranges stands for, from 0 on; nothing: it is no step.
std::optional<std::size_t> step_of(range_work const& work) {
  if (work.is_outside || raw(work.key.name) == 0) return std::nullopt;
  return raw(work.key.name) - 1;
}

}  // namespace

step_lines::step_lines(trace_contents& trace, roofline_reading& read)
    : trace_(trace), steps_(number_steps(trace.ranges(), trace.text(), "")) {
  periods_ns_ = periods_ahead(trace, steps_);
  is_of_warm_up_.resize(steps_.instances.size());
  auto const& tree = trace.ranges();
  std::map<thread_index, std::vector<std::uint32_t>> of_thread;
  std::map<std::uint32_t, std::size_t> step_of_range;
  for (std::size_t i = 0; i < steps_.instances.size(); ++i) {
    of_thread[tree[steps_.instances[i]].thread].push_back(steps_.instances[i]);
    step_of_range[steps_.instances[i]] = i;
  }
  for (auto const& [_, all] : of_thread) {
    auto const warm_up = steps_of_warm_up(periods_of_thread(tree, all));
    for (std::size_t i = 0; i < warm_up && i < all.size(); ++i)
      is_of_warm_up_[step_of_range[all[i]]] = true;
  }
  read.group_ranges(
      [this](traced_range const& range) { return line_of(trace_.ranges().index_of(range.id)); });
}

range_key step_lines::line_of(std::uint32_t range) const {
  auto const step = range < steps_.step_of_range.size() ? steps_.step_of_range[range] : no_step;
  if (step == no_step || steps_.instances[step] != range) return {};
  return {.name = static_cast<name_id>(step + 1)};
}

std::vector<roofline_row> step_lines::rows(roofline const& roofs,
                                           std::span<range_work const> ranges) const {
  std::map<std::size_t, roofline_row> by_step;
  for (auto const& work : ranges) {
    auto const step = step_of(work);
    if (!step) continue;
    auto row = roofs.of_range(work);
    row.name = steps_.name + " " + std::to_string(*step + 1);
    row.lasts(periods_ns_[*step]);
    by_step.emplace(*step, std::move(row));
  }
  std::vector<roofline_row> rows;
  for (auto& [_, row] : by_step) rows.push_back(std::move(row));
  return rows;
}

std::optional<roofline_row> step_lines::all_together(roofline const& roofs,
                                                     std::span<range_work const> ranges) const {
  range_work all;
  std::map<std::uint32_t, launch_tally> tallies;
  double ns = 0;
  for (auto const& work : ranges) {
    auto const step = step_of(work);
    if (!step || is_of_warm_up_[*step]) continue;
    ++all.instances;
    ns += periods_ns_[*step];
    all.declared_flops += work.declared_flops;
    all.declared_ns += work.declared_ns;
    for (auto const& [workload, tally] : work.workloads) tallies[workload] += tally;
  }
  if (all.instances < 2) return std::nullopt;
  for (auto const& [workload, tally] : tallies) all.workloads.push_back({workload, tally});
  auto row = roofs.of_range(all);
  row.lasts(ns);
  row.name = "all " + readable_count(all.instances) + " steps after the warm-up";
  return row;
}

}  // namespace gpuprof::host::command
