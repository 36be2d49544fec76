// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/counters.hpp"

#include "base/readable.hpp"
#include "host/export/measured_figures.hpp"
#include "host/export/perfetto/packets.hpp"
#include "host/reading/ordered_rows.hpp"
#include "model/ids.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::perfetto {
namespace {

/// Derives the units from a CUPTI metric name: "dram__bytes_read.sum.per_second".
void add_units(message<gpu_counter_spec>& to, std::string_view name) {
  auto const has = [&](std::string_view part) { return name.find(part) != name.npos; };
  auto const per_second = has(".per_second");
  if (has(".pct"))
    to.add_enum(gpu_counter_spec::numerator_units, unit_percent);
  else if (has("bytes"))
    to.add_enum(gpu_counter_spec::numerator_units, unit_byte);
  else if (has("time_duration"))
    to.add_enum(gpu_counter_spec::numerator_units, unit_nanosecond);
  else if (has("inst_"))
    to.add_enum(gpu_counter_spec::numerator_units, unit_instruction);
  else if (has("__cycles") && per_second)
    return to.add_enum(gpu_counter_spec::numerator_units, unit_hertz);
  if (per_second) to.add_enum(gpu_counter_spec::denominator_units, unit_second);
}

void add_value(message<gpu_counter_event>& to, std::uint32_t id, double value) {
  message<gpu_counter> one(to, gpu_counter_event::counters);
  one.add_uint32(gpu_counter::counter_id, id);
  one.add_double(gpu_counter::double_value, value);
}

/// Introduces counters, with units derived from their names. Needed once per file.
void add_descriptor(message<gpu_counter_event>& to, std::span<counter_spec const> specs) {
  message<gpu_counter_descriptor> all(to, gpu_counter_event::counter_descriptor);
  for (auto const& spec : specs) {
    message<gpu_counter_spec> one(all, gpu_counter_descriptor::specs);
    one.add_uint32(gpu_counter_spec::counter_id, spec.id);
    one.add_string(gpu_counter_spec::name, spec.name);
    add_units(one, spec.name);
    one.add_enum(gpu_counter_spec::groups, spec.group);
  }
}

struct counter_value {
  std::uint32_t id = 0;
  double value = 0;
};

void add_values(message<gpu_counter_event>& to, std::span<counter_value const> values) {
  for (auto const& value : values) add_value(to, value.id, value.value);
}

/// Writes 0 for each counter: an interval begins here, and the next values belong to it.
void add_zeros(message<gpu_counter_event>& to, std::span<counter_value const> values) {
  for (auto const& value : values) add_value(to, value.id, 0);
}

template <class Row, class Take>
void each(capture::reader& file, Take take) {
  file.for_each<Row>([&](std::span<Row const> rows) {
    for (auto const& row : rows) take(row);
  });
}

std::int32_t group_of(std::string_view name) noexcept {
  for (std::string_view const unit : {"dram", "lts", "l1tex", "pcie", "nvl", "fbpa", "hbm"})
    if (name.starts_with(unit)) return group_memory;
  return group_system;
}

class counter_samples {
 public:
  counter_samples(packet_file& file, export_job& job) : job_(job), events_(file) {
    job.trace.file().for_each<metric_record>([&](std::span<metric_record const> rows) {
      for (auto const& row : rows)
        if (row.sampled) define(row);
    });
  }

  void write() {
    row_progress progress(job_);
    ordered_rows<sample_record> rows(job_.trace.file());
    while (auto const* row = rows.next()) {
      if (row->start != start_) write_interval();
      start_ = row->start;
      take(*row);
      progress.one();
    }
    write_interval();
  }

 private:
  struct sampled_metric {
    device_id device{};
    bool is_count = false;
  };
  struct interval {
    timestamp_ns end;  // end of the last interval written
    timestamp_ns ends;
    std::vector<counter_value> values;
  };

  void define(metric_record const& row) {
    auto name = job_.names.text(row.name);
    auto const counts = is_amount(name);
    auto const group = group_of(name);
    if (counts) name += ".per_second";
    specs_.push_back({raw(row.metric), name + " (sampled)", group});
    metrics_[raw(row.metric)] = {row.device, counts};
  }

  void take(sample_record const& row) {
    auto const known = metrics_.find(raw(row.metric));
    if (known == metrics_.end() || row.duration.value <= 0 || !std::isfinite(row.value)) return;
    auto const& metric = known->second;
    auto& now = devices_[metric.device];
    now.ends = row.start + row.duration;
    auto const seconds = static_cast<double>(row.duration.value) / 1e9;
    now.values.push_back({raw(row.metric), metric.is_count ? row.value / seconds : row.value});
  }

  void write_interval() {
    for (auto& [device, now] : devices_) {
      if (now.values.empty()) continue;
      // A value covers the time since the value before it, so after a gap the interval needs a
      // start.
      if (now.end != start_) write_event(start_, device, now.values, add_zeros);
      write_event(now.ends, device, now.values, add_values);
      now.end = now.ends;
      now.values.clear();
    }
  }

  template <class Add>
  void write_event(timestamp_ns at, device_id device, std::span<counter_value const> values,
                   Add add) {
    events_.add(at, [&](message<packet>& out) {
      message<gpu_counter_event> event(out, packet::gpu_counter_event);
      event.add_int32(gpu_counter_event::gpu_id, static_cast<std::int32_t>(raw(device)));
      if (!std::exchange(introduced_, true)) add_descriptor(event, specs_);
      add(event, values);
    });
  }

  export_job& job_;
  sequence events_;
  std::vector<counter_spec> specs_;
  std::unordered_map<std::uint32_t, sampled_metric> metrics_;
  std::map<device_id, interval> devices_;
  timestamp_ns start_;
  bool introduced_ = false;
};

}  // namespace

counter_readings::counter_readings(packet_file& file, export_job& job) : file_(file), job_(job) {}

void counter_readings::judge() {
  auto& file = job_.trace.file();
  if (file.row_count<reading_value_record>() == 0) return;
  each<metric_record>(file, [&](auto const& metric) {
    auto const& name = job_.names.text(metric.name);
    joined_.define(metric, name);
    if (metric.sampled) return;
    specs_.push_back({raw(metric.metric), name, group_compute});
    if (metric.patches_kernel) patching_.insert(metric.metric);
  });
  each<read_launch_record>(file, [&](auto const& launch) {
    joined_.add(launch);
    opened_[raw(launch.correlation)] = launch.opened;
  });
  each<reading_value_record>(file, [&](auto const& value) {
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

/// Returns false for a kernel in a graph with others, because their work was counted, too.
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
  auto const by_correlation = [](reading_value_record const& a, reading_value_record const& b) {
    return raw(a.correlation) < raw(b.correlation);
  };
  auto const [first, last] =
      std::equal_range(values_.begin(), values_.end(),
                       reading_value_record{.correlation = correlation}, by_correlation);
  // A patched kernel runs at other rates: only the counters that it was patched for are valid.
  auto const slowed = joined_.sampling_of(correlation) == sampling::slowed;
  std::vector<counter_value> values;
  for (auto value = first; value != last; ++value)
    if (std::isfinite(value->value) && (!slowed || patching_.contains(value->metric)))
      values.push_back({raw(value->metric), value->value});
  if (values.empty()) return;  // an earlier launch of a reading with several launches
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

void write_counter_samples(packet_file& file, export_job& job) {
  counter_samples(file, job).write();
}

}  // namespace gpuprof::host::perfetto
