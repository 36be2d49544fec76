// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/counter_readings.hpp"

#include "base/readable.hpp"
#include "model/correlation.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::perfetto {
namespace {

template <class Row, class Take>
void each(capture::reader& file, Take take) {
  file.for_each<Row>([&](std::span<Row const> rows) {
    for (auto const& row : rows) take(row);
  });
}

}  // namespace

counter_readings::counter_readings(packet_file& file, export_job& job) : file_(file), job_(job) {}

void counter_readings::judge() {
  auto& file = job_.trace.file();
  if (file.row_count<launch_metric_record>() == 0) return;
  each<metric_record>(file, [&](auto const& metric) {
    auto const& name = job_.names.text(metric.name);
    joined_.define(metric, name);
    if (metric.sampled) return;
    specs_.push_back({raw(metric.metric), name, group_compute});
    if (metric.patches_kernel) patching_.insert(metric.metric);
  });
  each<sampled_launch_record>(file, [&](auto const& launch) {
    joined_.add(launch);
    opened_[raw(launch.correlation)] = launch.opened;
  });
  each<launch_metric_record>(file, [&](auto const& value) {
    joined_.add(value);
    values_.push_back(value);
  });
  each<kernel_record>(file, [&](auto const& row) { joined_.see(row); });
  each<graph_record>(file, [&](auto const& row) { joined_.see(row); });
  each<copy_record>(file, [&](auto const& row) { joined_.see(row); });
  each<memset_record>(file, [&](auto const& row) { joined_.see(row); });
  joined_.join();
  std::stable_sort(values_.begin(), values_.end(), [](auto const& a, auto const& b) {
    return raw(a.correlation) < raw(b.correlation);
  });
}

/// A kernel among others of a graph does not tell what all of them counted.
bool counter_readings::is_told_by(kernel_record const& row) const {
  auto const workload = joined_.workload_of(row.correlation);
  return workload && raw(workload->shape) != 0;
}

bool counter_readings::is_told_by(graph_record const& row) const {
  return joined_.workload_of(row.correlation).has_value();
}

template <class Row>
void counter_readings::add_work(Row const& row) {
  if (opened_.empty()) return;
  auto const launch = opened_.find(raw(row.correlation));
  if (launch == opened_.end() || !are_of_one_call(launch->second, row.start) || !is_told_by(row))
    return;
  opened_.erase(launch);
  write(row.device, row.start, row.start + row.duration, row.correlation);
}

template void counter_readings::add_work(kernel_record const&);
template void counter_readings::add_work(graph_record const&);

void counter_readings::write(device_id device, timestamp_ns start, timestamp_ns end,
                             correlation_id correlation) {
  auto const by_correlation = [](launch_metric_record const& a, launch_metric_record const& b) {
    return raw(a.correlation) < raw(b.correlation);
  };
  auto const [first, last] =
      std::equal_range(values_.begin(), values_.end(),
                       launch_metric_record{.correlation = correlation}, by_correlation);
  // A rewritten kernel runs at other rates: only what it was rewritten to count holds for it.
  auto const slowed = joined_.sampling_of(correlation) == sampling::slowed;
  std::vector<counter_value> values;
  for (auto value = first; value != last; ++value)
    if (std::isfinite(value->value) && (!slowed || patching_.contains(value->metric)))
      values.push_back({raw(value->metric), value->value});
  if (values.empty()) return;  // an earlier launch of a reading of several
  auto& sequence = sequences_.try_emplace(device, file_).first->second;
  auto const write_at = [&](timestamp_ns at, auto write_values) {
    sequence.add(at, [&](message<packet>& out) {
      message<gpu_counter_event> event(out, packet::gpu_counter_event);
      event.add_int32(gpu_counter_event::gpu_id, static_cast<std::int32_t>(raw(device)));
      if (!std::exchange(introduced_, true)) add_descriptor(event, specs_);
      write_values(event, values);
    });
  };
  write_at(start, add_zeros);
  write_at(end, add_values);
}

void counter_readings::add_notes(export_notes& to) const {
  auto const all = joined_.samples();
  auto const graphs = std::count_if(opened_.begin(), opened_.end(), [&](auto const& launch) {
    auto const workload = joined_.workload_of(static_cast<correlation_id>(launch.first));
    return workload && raw(workload->shape) == 0;
  });
  if (auto const unclear = all - joined_.valid_samples(); unclear > 0)
    to.push_back("left out: " + std::to_string(unclear) + " of " + std::to_string(all) +
                 " readings of counters, because other work ran beside the kernel and was counted "
                 "with it");
  if (graphs > 0)
    to.push_back(
        "left out: " + counted(static_cast<std::uint64_t>(graphs), "readings") +
        " of counters around graphs of several kernels, because Perfetto knows counters of "
        "single kernels; gpuprof roofline shows them");
}

}  // namespace gpuprof::perfetto
