// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/planning/pass_plan.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace gpuprof::guest {
namespace {

class planner {
 public:
  planner(plan_inputs const& inputs, host_profiler const& ranges, host_profiler const* sampling)
      : inputs_(inputs), ranges_(ranges), sampling_(sampling) {}

  result<pass_plan> plan() {
    plan_.chip = ranges_.chip();
    classify();
    explain_unusable();
    group_launches();
    choose_sampled();
    if (failure_) return *std::move(failure_);
    return std::move(plan_);
  }

 private:
  using names = std::vector<std::string>;

  /// Returns 0 if they cannot be read together, or not at all. After CUPTI has failed, it is not
  /// asked again.
  std::size_t passes(host_profiler const& host, names const& metrics) {
    if (failure_) return 0;
    if (inputs_.on_progress) inputs_.on_progress(++tried_);
    auto const configuration = host.configure(metrics);
    if (configuration) return configuration->passes;
    failure_ = error{configuration.message()};
    return 0;
  }

  void classify() {
    names seen;
    for (auto const& name : inputs_.metrics) {
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
      seen.push_back(name);
      planned_metric metric{name, 0, 0};
      if (sampling_ != nullptr) metric.sampling_passes = passes(*sampling_, {name});
      if (!is_for_sampling(name) || metric.sampling_passes == 0)
        metric.launch_passes = passes(ranges_, {name});
      if (metric.launch_passes + metric.sampling_passes > 0) {
        plan_.metrics.push_back(std::move(metric));
      } else {
        plan_.unusable.push_back({name, {}, {}});
      }
    }
  }

  void explain_unusable() {
    if (failure_ || plan_.unusable.empty()) return;
    auto const catalog = metric_catalog::read(ranges_, sampling_);
    if (!catalog) {
      failure_ = error{catalog.message()};
      return;
    }
    for (auto& metric : plan_.unusable) metric = catalog->explain(metric.name);
  }

  /// First fit. Metrics of one pass share a group as long as the group takes one pass, so that each
  /// launch yields complete results. Metrics of several passes join a group if this saves a pass,
  /// starting from the last group, so that the most important groups stay unchanged.
  void group_launches() {
    for (auto const& metric : plan_.metrics)
      if (metric.launch_passes == 1) place_whole(metric);
    for (auto const& metric : plan_.metrics)
      if (metric.launch_passes > 1) place_split(metric);
  }

  void place_whole(planned_metric const& metric) {
    for (auto& group : plan_.launches)
      if (joins(metric, group, 1)) return;
    begin_group(metric);
  }

  void place_split(planned_metric const& metric) {
    auto& groups = plan_.launches;
    for (auto at = groups.size(); at > 1; --at) {
      auto& group = groups[at - 1];
      if (joins(metric, group, group.passes + metric.launch_passes - 1)) return;
    }
    begin_group(metric);
  }

  void begin_group(planned_metric const& metric) {
    plan_.launches.push_back({{metric.name}, metric.launch_passes, patches_kernel(metric.name)});
  }

  /// Joins if the group then takes at most `most` passes.
  bool joins(planned_metric const& metric, launch_group& group, std::size_t most) {
    if (group.patches_kernel != patches_kernel(metric.name)) return false;
    auto together = group.metrics;
    together.push_back(metric.name);
    auto const needed = passes(ranges_, together);
    if (needed == 0 || needed > most) return false;
    group.metrics = std::move(together);
    group.passes = needed;
    return true;
  }

  /// Sampling has one pass. The most important metrics are added first.
  void choose_sampled() {
    if (sampling_ == nullptr) return;
    names all;
    for (auto const& metric : plan_.metrics)
      if (metric.sampling_passes > 0) all.push_back(metric.name);
    if (all.empty()) return;
    plan_.sampling_passes = passes(*sampling_, all);
    if (plan_.sampling_passes == 1) {
      plan_.sampled = std::move(all);
      return;
    }
    for (auto const& metric : plan_.metrics) {
      if (metric.sampling_passes != 1) continue;
      plan_.sampled.push_back(metric.name);
      if (passes(*sampling_, plan_.sampled) != 1) plan_.sampled.pop_back();
    }
  }

  plan_inputs const& inputs_;
  host_profiler const& ranges_;
  host_profiler const* sampling_;
  pass_plan plan_;
  std::size_t tried_ = 0;
  std::optional<error> failure_;
};

}  // namespace

bool patches_kernel(std::string const& metric) {
  return metric.find("__sass_") != std::string::npos;
}

bool is_for_sampling(std::string const& metric) {
  return metric.find(".Triage") != std::string::npos;
}

std::size_t pass_plan::launch_passes() const noexcept {
  return std::accumulate(
      launches.begin(), launches.end(), std::size_t{0},
      [](std::size_t sum, launch_group const& group) { return sum + group.passes; });
}

result<pass_plan> plan_passes(cupti_api const& api, plan_inputs const& inputs) {
  auto const ranges =
      host_profiler::open(api, counter_engine::ranges, inputs.chip, inputs.range_availability);
  if (!ranges) return error{ranges.message()};
  auto const sampling =
      host_profiler::open(api, counter_engine::sampling, inputs.chip, inputs.sampling_availability);
  auto plan = planner(inputs, *ranges, sampling ? &*sampling : nullptr).plan();
  if (plan && !sampling) plan->sampling_refused = sampling.message();
  return plan;
}

}  // namespace gpuprof::guest
