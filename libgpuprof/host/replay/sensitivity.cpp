// SPDX-License-Identifier: Apache-2.0
#include "host/replay/sensitivity.hpp"

#include "host/replay/replay.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace gpuprof::host::replay {
namespace {

constexpr double less = 0.9;

using edit_by = std::function<void(step_edit&, double)>;

class measuring {
 public:
  explicit measuring(step_graph const& graph)
      : graph_(graph), step_ns_(step_ns(step_edit(graph))) {}

  double step() const noexcept { return step_ns_; }
  void measure(sensitivity& of, edit_by const& scale) const {
    of.tenth_ns = gain(scale, less);
    of.all_ns = gain(scale, 0);
  }

 private:
  double gain(edit_by const& scale, double factor) const {
    step_edit edit(graph_);
    scale(edit, factor);
    return step_ns_ - step_ns(edit);
  }

  step_graph const& graph_;
  double step_ns_;
};

name_set works_of_kind(recorded_steps const& steps, bool copies) {
  name_set names(steps.work_names.size());
  for (auto const& item : steps.items)
    if ((item.kind == work_kind::copy) == copies) names[item.name] = true;
  return names;
}

struct sum {
  double count = 0, ns = 0;
};

/// Sums over all steps, by name.
struct sums {
  std::vector<sum> works, calls, ranges;
};

sums sums_of(step_graph const& graph) {
  auto const& recorded = graph.recorded();
  sums all{std::vector<sum>(recorded.work_names.size()),
           std::vector<sum>(recorded.call_names.size()),
           std::vector<sum>(recorded.range_names.size())};
  for (auto const& item : recorded.items) {
    if (item.is_from_before) continue;
    ++all.works[item.name].count;
    all.works[item.name].ns += static_cast<double>(item.length_ns());
  }
  std::vector<std::uint32_t> seen(recorded.range_names.size(), nothing);  // by this point
  for (std::uint32_t q = 0; q < graph.points().size(); ++q) {
    auto const& point = graph.points()[q];
    if (point.kind == point_kind::call && graph.holds()[q].waits_for == nothing) {
      ++all.calls[point.name].count;
      all.calls[point.name].ns += static_cast<double>(point.end_ns - point.begin_ns);
    }
    for (auto range = point.range; range != nothing; range = recorded.ranges[range].parent) {
      auto const name = recorded.ranges[range].name;
      // Ranges around all steps are no part of a step.
      if (recorded.ranges[range].begin_ns < 0 || std::exchange(seen[name], q) == q) continue;
      all.ranges[name].ns += static_cast<double>(point.work_ns);
    }
  }
  for (auto const& range : recorded.ranges)
    if (range.begin_ns >= 0 && range.begin_ns < recorded.end_ns) ++all.ranges[range.name].count;
  return all;
}

void add_subjects(sensitivities& to, measuring const& measuring, subject_kind kind,
                  std::vector<std::string> const& names, std::vector<sum> const& all,
                  std::size_t count, double steps,
                  std::function<void(step_edit&, name_set const&, double)> const& scale) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (all[i].ns > 0) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return all[a].ns > all[b].ns; });
  order.resize(std::min(order.size(), count));
  for (auto const i : order) {
    sensitivity one{kind, names[i], all[i].count / steps, all[i].ns / steps, 0, 0};
    name_set only(names.size());
    only[i] = true;
    measuring.measure(one, [&](step_edit& edit, double factor) { scale(edit, only, factor); });
    to.subjects.push_back(std::move(one));
  }
}

/// A rank with less to do takes less of everything, but not of its waits for other ranks.
void add_ranks(sensitivities& to, measuring const& measuring, step_graph const& graph) {
  auto const& recorded = graph.recorded();
  if (recorded.ranks() == 1) return;
  auto const steps = std::max<double>(1, recorded.steps);
  for (std::uint32_t rank = 0; rank < recorded.ranks(); ++rank) {
    sensitivity one{subject_kind::rank, recorded.rank_names[rank], 0, 0, 0, 0};
    for (std::uint32_t i = 0; i < recorded.items.size(); ++i) {
      auto const& item = recorded.items[i];
      if (item.is_from_before || recorded.rank_of(item) != rank) continue;
      one.count += 1 / steps;
      one.time_ns += static_cast<double>(graph.lasting_ns(i)) / steps;
    }
    for (auto const& point : graph.points())
      if (graph.lanes().rank_of_lane[point.lane] == rank)
        one.time_ns += static_cast<double>(point.work_ns) / steps;
    measuring.measure(one, [&](step_edit& edit, double factor) {
      edit.limit_to({.rank = rank});
      edit.scale(name_set(recorded.work_names.size(), true), factor);
      edit.scale_cpu(factor);
      edit.scale_calls(factor);
    });
    to.ranks.push_back(std::move(one));
  }
}

}  // namespace

std::string_view name_of(subject_kind kind) noexcept {
  switch (kind) {
    case subject_kind::kind_of_work:
      return "kind";
    case subject_kind::work:
      return "GPU work";
    case subject_kind::call:
      return "call";
    case subject_kind::range:
      return "CPU work in range";
    case subject_kind::rank:
      return "rank";
  }
  return {};
}

double sensitivities::sum_of_kinds() const noexcept {
  double sum = 0;
  for (auto const& kind : kinds) sum += kind.tenth_ns;
  return step_ns > 0 ? sum / (step_ns * (1 - less)) : 0;
}

sensitivities sensitivities_of(step_graph const& graph, std::size_t count) {
  measuring const measuring(graph);
  auto const& recorded = graph.recorded();
  auto const steps = std::max<double>(1, recorded.steps);
  auto const all = sums_of(graph);
  sensitivities made;
  made.step_ns = measuring.step();
  auto const kernels = works_of_kind(recorded, false), copies = works_of_kind(recorded, true);
  auto const add_kind = [&](char const* name, sum of, edit_by const& scale) {
    sensitivity kind{subject_kind::kind_of_work, name, of.count / steps, of.ns / steps, 0, 0};
    measuring.measure(kind, scale);
    made.kinds.push_back(std::move(kind));
  };
  auto const sum_over = [](std::vector<sum> const& of, auto const& takes) {
    sum together;
    for (std::uint32_t i = 0; i < of.size(); ++i)
      if (takes(i)) together = {together.count + of[i].count, together.ns + of[i].ns};
    return together;
  };
  sum cpu;
  for (auto const& point : graph.points())
    cpu = {cpu.count + (point.work_ns > 0), cpu.ns + static_cast<double>(point.work_ns)};
  add_kind("kernels", sum_over(all.works, [&](auto i) { return has(kernels, i); }),
           [&](step_edit& edit, double factor) { edit.scale(kernels, factor); });
  add_kind("copies", sum_over(all.works, [&](auto i) { return has(copies, i); }),
           [&](step_edit& edit, double factor) { edit.scale(copies, factor); });
  add_kind("CPU work", cpu, [](step_edit& edit, double factor) { edit.scale_cpu(factor); });
  add_kind("calls", sum_over(all.calls, [](auto) { return true; }),
           [](step_edit& edit, double factor) { edit.scale_calls(factor); });
  add_ranks(made, measuring, graph);
  add_subjects(made, measuring, subject_kind::work, recorded.work_names, all.works, count, steps,
               [](auto& edit, auto const& names, auto by) { edit.scale(names, by); });
  add_subjects(made, measuring, subject_kind::call, recorded.call_names, all.calls, count, steps,
               [](auto& edit, auto const& names, auto by) { edit.scale_calls(names, by); });
  add_subjects(made, measuring, subject_kind::range, recorded.range_names, all.ranges, count, steps,
               [](auto& edit, auto const& names, auto by) { edit.scale_cpu(names, by); });
  std::stable_sort(made.subjects.begin(), made.subjects.end(), [](auto const& a, auto const& b) {
    return a.tenth_ns != b.tenth_ns ? a.tenth_ns > b.tenth_ns : a.time_ns > b.time_ns;
  });
  made.subjects.resize(std::min(made.subjects.size(), count));
  return made;
}

}  // namespace gpuprof::host::replay
