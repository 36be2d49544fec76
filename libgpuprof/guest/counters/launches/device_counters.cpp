// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/device_counters.hpp"

#include "base/cache_file.hpp"
#include "guest/cupti/chip_name.hpp"
#include "guest/metrics/inventory/idle_counters.hpp"
#include "guest/metrics/planning/metric_sets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace gpuprof::guest {
namespace {

/// The names of ranges are their numbers.
std::size_t number_of(std::string const& name) {
  return std::strtoul(name.c_str(), nullptr, 10);
}

/// Every kernel has an EXIT instruction, so a count of 0 shows that the kernel was not rewritten.
constexpr char const* witness_of_rewriting = "smsp__sass_thread_inst_executed_op_control_pred_on";

/// True if the kernel has one tensor type, for which a cycle of the tensor pipe computes a known
/// number of operations.
bool tells_operations_by_cycles(std::string_view chip, kernel_code const& code) noexcept {
  using enum instruction_class;
  return chip == "GH100" && code.is_complete && !code.holds.has(sparse_tensor) &&
         std::has_single_bit(code.holds.tensor().bits());
}

/// True for metrics of the whole pipe: a part of it may be idle while another works.
bool tells_of_tensor_pipe(std::string_view metric) {
  return metric.starts_with("sm__pipe_tensor_cycles_active.") && metric.find(".min") == metric.npos;
}

}  // namespace

result<device_counters> device_counters::plan(cupti_api const& api, device_id device,
                                              std::vector<std::uint8_t> availability,
                                              device_options const& options,
                                              std::uint32_t& next_metric,
                                              std::vector<std::string>& warnings) {
  auto const chip = chip_name(api, raw(device));
  auto const words = options.words.empty() ? std::vector<std::string>{"roofline"} : options.words;
  auto const chosen = chosen_metrics(words, chip);
  if (!chosen) return error{"counters are off: " + chosen.message()};
  auto evaluator = host_profiler::open(api, counter_engine::ranges, chip, availability);
  if (!evaluator) return error{evaluator.message()};
  auto prepared = prepare_counters(
      api, *evaluator,
      {.metrics = *chosen, .availability = std::move(availability), .one_pass = options.one_pass},
      warnings);
  if (!prepared) return error{prepared.message()};
  device_counters made(std::move(*evaluator));
  made.prepared_ = std::move(*prepared);
  if (made.prepared_.empty())
    return error{"counters are off: nothing of what was asked for can be counted on this GPU"};
  for (unsigned g = 0; g < made.prepared_.size(); ++g)
    if (counts_tensor_operations(made.prepared_[g].metrics)) made.tensor_group_ = g;
  std::string setup = chip;
  for (auto const& group : made.prepared_) {
    setup += '\n';
    for (auto const& metric : group.metrics) setup += metric + ' ';
  }
  made.setup_ = stable_hash(setup);
  for (auto const& group : made.prepared_) {
    auto& ids = made.ids_.emplace_back();
    for (std::size_t i = 0; i < group.metrics.size(); ++i)
      ids.push_back(static_cast<metric_id>(next_metric++));
  }
  return made;
}

launch_signature::groups device_counters::rewriting() const noexcept {
  launch_signature::groups bits = 0;
  for (unsigned i = 0; i < prepared_.size(); ++i)
    if (prepared_[i].rewrites) bits |= launch_signature::groups{1} << i;
  return bits;
}

launch_signature::groups device_counters::useless_to(kernel_code const& code) const noexcept {
  launch_signature::groups bits = 0;
  for (unsigned i = 0; i < prepared_.size(); ++i) {
    auto const& metrics = prepared_[i].metrics;
    auto const idle = std::all_of(metrics.begin(), metrics.end(), [&](std::string const& metric) {
      return leaves_idle(code, metric) || metric.starts_with(witness_of_rewriting);
    });
    auto const follows = i == tensor_group_ && tells_operations_by_cycles(evaluator_.chip(), code);
    if (idle || follows) bits |= launch_signature::groups{1} << i;
  }
  return bits;
}

std::vector<metric_record> device_counters::records(device_id device, intern const& names) const {
  std::vector<metric_record> records;
  for (std::size_t g = 0; g < prepared_.size(); ++g) {
    auto const& group = prepared_[g];
    for (std::size_t m = 0; m < group.metrics.size(); ++m)
      records.push_back({ids_[g][m], names(group.metrics[m]), device, static_cast<std::uint16_t>(g),
                         group.rewrites});
  }
  return records;
}

result<void> device_counters::evaluate(reading_batch const& batch, std::size_t index,
                                       unsigned group, evaluated& all) const {
  auto const range = number_of(batch.counted.names[index]);
  if (range >= batch.readings.size()) return {};
  counter_reading reading;
  for (auto const& launch : batch.readings[range].launches)
    if (launch.group == group) reading.launches.push_back(launch);
  if (reading.launches.empty()) return {};
  auto const& metrics = prepared_[group].metrics;
  auto values = evaluator_.evaluate(batch.counted.image, index, metrics);
  if (!values) return error{values.message()};
  if (prepared_[group].rewrites &&
      std::all_of(values->begin(), values->end(), [](double v) { return !(v > 0); })) {
    ++all.not_rewritten;
    return {};
  }
  for (std::size_t m = 0; m < values->size(); ++m) {
    // A pass without a launch leaves NaN.
    if (std::isfinite((*values)[m]))
      reading.values.push_back({reading.launches.back().correlation, ids_[group][m], (*values)[m]});
  }
  if (tensor_pipe_idled(metrics, *values)) {
    add_idle_tensor(reading);
    if (auto* const signature = batch.readings[range].signature)
      signature->mark_done(*tensor_group_);
  }
  all.readings.push_back(std::move(reading));
  return {};
}

/// Only on chips whose tensor pipe also runs FP64: on others FP64 products run on the FP64 pipe.
bool device_counters::tensor_pipe_idled(std::span<std::string const> metrics,
                                        std::span<double const> values) const {
  if (!tensor_group_ || !tensor_pipe_runs_all(evaluator_.chip())) return false;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (tells_of_tensor_pipe(metrics[i]) && values[i] == 0) return true;
  return false;
}

/// A kernel that did not use the tensor pipe ran 0 operations on the tensor path, so they need not
/// be read.
void device_counters::add_idle_tensor(counter_reading& to) const {
  for (auto const id : ids_[*tensor_group_])
    to.values.push_back({to.launches.back().correlation, id, 0});
}

device_counters::evaluated device_counters::evaluate(reading_batch const& batch) const {
  evaluated all;
  auto const lost = [&](std::string const& why) {
    all.warning = "counters of some launches are lost: " + why;
    return all;
  };
  for (std::size_t i = 0; i < batch.counted.names.size(); ++i)
    if (auto const ok = evaluate(batch, i, batch.group.number, all); !ok) return lost(ok.message());
  return all;
}

}  // namespace gpuprof::guest
