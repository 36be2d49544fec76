// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/prepared_counters.hpp"

#include "guest/counters/launches/signatures/launch_signatures.hpp"
#include "guest/metrics/planning/metric_sets.hpp"
#include "guest/metrics/planning/pass_plan.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace gpuprof::guest {
namespace {

constexpr std::size_t max_passes = 63;  // in a cycle: each pass costs milliseconds

/// Sorts the launches of a plan into groups.
class grouping {
 public:
  grouping(host_profiler const& chip, bool one_pass) : chip_(chip), one_pass_(one_pass) {}

  /// Metrics that can be counted together form one group, with as many passes as needed: another
  /// pass is cheaper than another group.
  result<void> add(launch_group const& planned) {
    if (one_pass_ && (!groups_.empty() || planned.passes != 1)) {
      left_out_ += planned.metrics.size();
      return {};
    }
    for (auto& group : groups_) {
      if (group.rewrites != planned.patches_kernel) continue;
      if (counts_tensor_operations(group.metrics) != counts_tensor_operations(planned.metrics))
        continue;
      auto together = group.metrics;
      together.insert(together.end(), planned.metrics.begin(), planned.metrics.end());
      auto configuration = chip_.configure(together);
      if (!configuration) return error{configuration.message()};
      if (configuration->passes == 0 || configuration->passes > max_passes) continue;
      group = {std::move(together), std::move(*configuration), group.rewrites};
      return {};
    }
    auto configuration = chip_.configure(planned.metrics);
    if (!configuration) return error{configuration.message()};
    if (configuration->passes > max_passes || groups_.size() == launch_signature::max_groups)
      left_out_ += planned.metrics.size();
    else
      groups_.push_back({planned.metrics, std::move(*configuration), planned.patches_kernel});
    return {};
  }

  std::vector<prepared_group> take() { return std::move(groups_); }
  std::string warning() const {
    if (left_out_ == 0) return {};
    return std::to_string(left_out_) + " metrics are not read: " +
           (one_pass_ ? "around every launch one pass runs. --metrics auto reads more"
                      : "they take more passes than a reading can have. Name fewer");
  }

 private:
  host_profiler const& chip_;
  bool one_pass_;
  std::vector<prepared_group> groups_;
  std::size_t left_out_ = 0;
};

enum group_type : std::size_t { rewriting, usual, tensor, type_count };

bool configure(prepared_group& group, host_profiler const& chip) {
  if (group.metrics.empty()) return true;
  auto made = chip.configure(group.metrics);
  if (!made || made->passes == 0 || made->passes > max_passes) return false;
  group.configuration = std::move(*made);
  return true;
}

/// Adds the operations of one tensor path, if that takes no further pass.
void add_one_tensor_path(prepared_group& to, std::vector<std::string>& paths,
                         host_profiler const& chip) {
  if (to.metrics.empty() || paths.empty()) return;
  auto more = to;
  more.metrics.push_back(paths.front());
  if (!configure(more, chip) || more.configuration.passes != to.configuration.passes) return;
  to = std::move(more);
  paths.erase(paths.begin());
}

/// Metrics of our sets are known to work in sampling.
bool is_of_a_set(std::string const& metric, std::string const& chip) {
  auto const all = contents_of(metric_set::explain, chip).metrics;
  return std::find(all.begin(), all.end(), metric) != all.end();
}

/// Prepares all metrics at once, if the GPU can count them all. That takes about 12 ms, instead of
/// one to two seconds for a plan of sixty metrics (H100), which is longer than a short program
/// runs.
std::optional<prepared_counters> together(host_profiler const& chip,
                                          std::vector<std::string> const& metrics) {
  std::array<prepared_group, type_count> of_type;
  for (auto const& metric : metrics) {
    auto const rewrites = patches_kernel(metric);
    auto& group = of_type[rewrites                             ? rewriting
                          : counts_tensor_operations({metric}) ? tensor
                                                               : usual];
    auto const known = std::find(group.metrics.begin(), group.metrics.end(), metric);
    if (known != group.metrics.end()) continue;
    if (is_for_sampling(metric)) {
      if (!is_of_a_set(metric, chip.chip())) return std::nullopt;  // the plan reports what is wrong
      continue;
    }
    group.metrics.push_back(metric);
    group.rewrites = rewrites;
  }
  for (std::size_t type = 0; type < of_type.size(); ++type) {
    if (!configure(of_type[type], chip)) return std::nullopt;
    if (type == usual) add_one_tensor_path(of_type[usual], of_type[tensor].metrics, chip);
  }
  prepared_counters groups;
  for (auto& group : of_type)
    if (!group.metrics.empty()) groups.push_back(std::move(group));
  return groups;
}

result<prepared_counters> as_planned(cupti_api const& api, host_profiler const& chip,
                                     counters_to_prepare const& wanted,
                                     std::vector<std::string>& warnings) {
  auto const plan = plan_passes(api, {chip.chip(), wanted.metrics, wanted.availability, {}, {}});
  if (!plan) return error{plan.message()};
  for (auto const& metric : plan->unusable)
    warnings.push_back(metric.name + " is not read: " + metric.reason +
                       (metric.nearest.empty() ? "" : "; " + metric.nearest + " is near"));
  grouping groups(chip, wanted.one_pass);
  for (auto const& planned : plan->launches)
    if (auto ok = groups.add(planned); !ok) return error{ok.message()};
  if (auto line = groups.warning(); !line.empty()) warnings.push_back(std::move(line));
  auto prepared = groups.take();
  if (!wanted.one_pass)
    std::stable_partition(prepared.begin(), prepared.end(),
                          [](prepared_group const& group) { return group.rewrites; });
  return prepared;
}

}  // namespace

bool counts_tensor_operations(std::vector<std::string> const& metrics) {
  return !metrics.empty() && metrics.front().starts_with("sm__ops_path_tensor_");
}

result<prepared_counters> prepare_counters(cupti_api const& api, host_profiler const& chip,
                                           counters_to_prepare const& wanted,
                                           std::vector<std::string>& warnings) {
  auto const are_sampled = api.first_missing_for_sampling() == nullptr;
  if (!wanted.one_pass && are_sampled)
    if (auto groups = together(chip, wanted.metrics)) return std::move(*groups);
  return as_planned(api, chip, wanted, warnings);
}

}  // namespace gpuprof::guest
