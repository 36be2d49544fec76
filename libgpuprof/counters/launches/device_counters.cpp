#include "counters/launches/device_counters.hpp"

#include "counters/planning/metric_sets.hpp"
#include "cupti/chip_name.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gpuprof {
namespace {

constexpr std::size_t most_passes = 63;  // of a reading, see sampled_context::pass_number_

/// Sorts the launches of a plan into groups.
class grouping {
 public:
  grouping(host_profiler const& chip, bool one_pass) : chip_(chip), one_pass_(one_pass) {}

  /// All that can be counted together is one group, of as many passes as it takes: another pass
  /// comes cheaper than another group.
  result<void> add(launch_group const& planned) {
    if (one_pass_ && (!groups_.empty() || planned.passes != 1)) {
      left_out_ += planned.metrics.size();
      return {};
    }
    for (auto& group : groups_) {
      if (group.patches_kernels != planned.patches_kernel) continue;
      auto together = group.metrics;
      together.insert(together.end(), planned.metrics.begin(), planned.metrics.end());
      auto configuration = chip_.configure(together);
      if (!configuration) return error{configuration.message()};
      if (configuration->passes == 0 || configuration->passes > most_passes) continue;
      group = {std::move(together), std::move(*configuration), group.patches_kernels};
      return {};
    }
    auto configuration = chip_.configure(planned.metrics);
    if (!configuration) return error{configuration.message()};
    if (configuration->passes > most_passes || groups_.size() == launch_signature::most_groups)
      left_out_ += planned.metrics.size();
    else
      groups_.push_back({planned.metrics, std::move(*configuration), planned.patches_kernel});
    return {};
  }

  std::vector<prepared_group> take() { return std::move(groups_); }
  std::string complaint() const {
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

}  // namespace

result<device_counters> device_counters::plan(cupti_api const& api, device_id device,
                                              std::vector<std::uint8_t> availability,
                                              device_wishes const& wishes,
                                              std::uint32_t& next_metric,
                                              std::vector<std::string>& complaints) {
  auto const chip = chip_name(api, raw(device));
  auto const words = wishes.words.empty() ? std::vector<std::string>{"roofline"} : wishes.words;
  auto const chosen = chosen_metrics(words, chip);
  if (!chosen) return error{"counters are off: " + chosen.message()};
  auto const plan = plan_passes(api, {chip, *chosen, availability, {}, {}});
  if (!plan) return error{plan.message()};
  for (auto const& metric : plan->unusable)
    complaints.push_back(metric.name + " is not read: " + metric.reason +
                         (metric.nearest.empty() ? "" : "; " + metric.nearest + " is near"));
  auto evaluator = host_profiler::open(api, counter_engine::ranges, chip, std::move(availability));
  if (!evaluator) return error{evaluator.message()};

  device_counters made(std::move(*evaluator));
  grouping groups(made.evaluator_, wishes.one_pass);
  for (auto const& planned : plan->launches)
    if (auto ok = groups.add(planned); !ok) return error{ok.message()};
  if (auto line = groups.complaint(); !line.empty()) complaints.push_back(std::move(line));
  made.groups_ = groups.take();
  if (made.groups_.empty())
    return error{"counters are off: nothing of what was asked for can be counted on this GPU"};
  for (auto const& group : made.groups_) {
    auto& ids = made.ids_.emplace_back();
    for (std::size_t i = 0; i < group.metrics.size(); ++i)
      ids.push_back(static_cast<metric_id>(next_metric++));
  }
  return made;
}

launch_signature::groups device_counters::patching() const noexcept {
  launch_signature::groups bits = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (groups_[i].patches_kernels) bits |= launch_signature::groups{1} << i;
  return bits;
}

std::vector<metric_record> device_counters::records(device_id device, intern const& names) const {
  std::vector<metric_record> records;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (std::size_t m = 0; m < groups_[g].metrics.size(); ++m)
      records.push_back({ids_[g][m], names(groups_[g].metrics[m]), device,
                         static_cast<std::uint16_t>(g), groups_[g].patches_kernels});
  }
  return records;
}

device_counters::evaluated device_counters::evaluate(sampled_context::batch const& batch) const {
  evaluated all;
  auto const& group = groups_[batch.group];
  for (std::size_t i = 0; i < batch.counted.names.size(); ++i) {
    auto const range = std::strtoul(batch.counted.names[i].c_str(), nullptr, 10);
    if (range >= batch.readings.size() || batch.readings[range].empty()) continue;
    auto const values = evaluator_.evaluate(batch.counted.image, i, group.metrics);
    if (!values) {
      all.complaint = "counters of some launches are lost: " + values.message();
      return all;
    }
    if (group.patches_kernels &&
        std::all_of(values->begin(), values->end(), [](double v) { return !(v > 0); })) {
      ++all.not_rewritten;
      continue;
    }
    launch_counters counters{batch.readings[range], {}};
    for (std::size_t m = 0; m < values->size(); ++m) {
      // A pass that found no launch leaves no number.
      if (std::isfinite((*values)[m]))
        counters.values.emplace_back(ids_[batch.group][m], (*values)[m]);
    }
    all.readings.push_back(std::move(counters));
  }
  return all;
}

}  // namespace gpuprof
