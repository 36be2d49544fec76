#include "counters/launches/device_counters.hpp"

#include "counters/launches/idle_tensor.hpp"
#include "counters/planning/metric_sets.hpp"
#include "cupti/chip_name.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gpuprof {
namespace {

constexpr std::size_t most_passes = 63;  // of a reading, see sampled_context::pass_number_

/// Ranges are called by their numbers.
std::size_t number_of(std::string const& name) {
  return std::strtoul(name.c_str(), nullptr, 10);
}

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
  auto prepared = arranged(made.evaluator_, groups.take(), most_passes);
  if (!prepared) return error{prepared.message()};
  made.prepared_ = std::move(*prepared);
  if (made.prepared_.groups.empty())
    return error{"counters are off: nothing of what was asked for can be counted on this GPU"};
  for (auto const& group : made.prepared_.groups) {
    auto& ids = made.ids_.emplace_back();
    for (std::size_t i = 0; i < group.metrics.size(); ++i)
      ids.push_back(static_cast<metric_id>(next_metric++));
  }
  return made;
}

launch_signature::groups device_counters::patching() const noexcept {
  launch_signature::groups bits = 0;
  for (unsigned i = 0; i < prepared_.groups.size(); ++i)
    if (prepared_.groups[i].patches_kernels) bits |= launch_signature::groups{1} << i;
  return bits;
}

std::vector<metric_record> device_counters::records(device_id device, intern const& names) const {
  std::vector<metric_record> records;
  for (std::size_t g = 0; g < prepared_.groups.size(); ++g) {
    auto const& group = prepared_.groups[g];
    for (std::size_t m = 0; m < group.metrics.size(); ++m)
      records.push_back({ids_[g][m], names(group.metrics[m]), device, static_cast<std::uint16_t>(g),
                         group.patches_kernels});
  }
  return records;
}

/// True: no value is missing that a later pass could bring.
bool device_counters::fill(unsigned group, std::span<double> values) const {
  return !prepared_.groups[group].patches_kernels && tensor_pipe_runs_all(evaluator_.chip()) &&
         fill_idle_tensor(prepared_.groups[group].metrics, values);
}

result<bool> device_counters::has_counted(std::span<std::uint8_t const> image, std::size_t index,
                                          unsigned group) const {
  auto const values = evaluator_.evaluate(image, index, prepared_.groups[group].metrics);
  if (!values) return error{values.message()};
  return std::any_of(values->begin(), values->end(), [](double v) { return std::isfinite(v); });
}

early_findings device_counters::look(std::span<std::uint8_t const> image,
                                     std::vector<std::string> const& names, unsigned group,
                                     std::span<unsigned const> later) const {
  early_findings found;
  // The same passes have run for all of them: one tells. Launches wait meanwhile.
  for (auto const other : names.empty() ? std::span<unsigned const>{} : later) {
    auto const counted = has_counted(image, 0, other);
    found.out_of_order = found.out_of_order || (counted && *counted);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto values = evaluator_.evaluate(image, i, prepared_.groups[group].metrics);
    // What cannot be evaluated now is read to its end.
    if (values && fill(group, *values)) found.complete.push_back(number_of(names[i]));
  }
  return found;
}

/// Rewritten kernels are counted in passes of their own, which some ranges have not been in.
result<bool> device_counters::is_out_of_order(sampled_context::batch const& batch) const {
  if (batch.groups.size() < 2) return false;
  for (std::size_t i = 0; i < batch.counted.names.size(); ++i) {
    auto const range = number_of(batch.counted.names[i]);
    if (range >= batch.readings.size()) continue;
    for (auto const group : batch.groups) {
      auto const was_in_its_passes = (batch.readings[range].opened >> group & 1) != 0;
      if (was_in_its_passes || !prepared_.groups[group].patches_kernels) continue;
      auto const counted = has_counted(batch.counted.image, i, group);
      if (!counted) return error{counted.message()};
      if (*counted) return true;
    }
  }
  return false;
}

result<void> device_counters::evaluate(sampled_context::batch const& batch, std::size_t index,
                                       unsigned group, evaluated& all) const {
  auto const range = number_of(batch.counted.names[index]);
  if (range >= batch.readings.size()) return {};
  launch_counters counters;
  for (auto const& launch : batch.readings[range].launches)
    if (launch.group == group) counters.launches.push_back(launch);
  if (counters.launches.empty()) return {};
  auto const& metrics = prepared_.groups[group].metrics;
  auto values = evaluator_.evaluate(batch.counted.image, index, metrics);
  if (!values) return error{values.message()};
  if (prepared_.groups[group].patches_kernels &&
      std::all_of(values->begin(), values->end(), [](double v) { return !(v > 0); })) {
    ++all.not_rewritten;
    return {};
  }
  fill(group, *values);
  for (std::size_t m = 0; m < values->size(); ++m) {
    // A pass that found no launch leaves no number.
    if (std::isfinite((*values)[m])) counters.values.emplace_back(ids_[group][m], (*values)[m]);
  }
  all.readings.push_back(std::move(counters));
  return {};
}

device_counters::evaluated device_counters::evaluate(sampled_context::batch const& batch) const {
  evaluated all;
  auto const lost = [&](std::string const& why) {
    all.complaint = "counters of some launches are lost: " + why;
    return all;
  };
  auto const out_of_order = is_out_of_order(batch);
  if (!out_of_order) return lost(out_of_order.message());
  all.out_of_order = batch.out_of_order || *out_of_order;
  if (all.out_of_order)
    return lost(
        "this GPU rewrites kernels in another pass than was assumed. Both are read apart now");
  for (std::size_t i = 0; i < batch.counted.names.size(); ++i)
    for (auto const group : batch.groups)
      if (auto const ok = evaluate(batch, i, group, all); !ok) return lost(ok.message());
  return all;
}

}  // namespace gpuprof
