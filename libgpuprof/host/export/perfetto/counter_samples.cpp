// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/counter_samples.hpp"

#include "host/export/metric_words.hpp"
#include "host/export/perfetto/counter_specs.hpp"
#include "host/export/perfetto/sequence.hpp"
#include "host/export/perfetto/steady_progress.hpp"
#include "host/reading/ordered_rows.hpp"

#include <cmath>
#include <map>
#include <unordered_map>
#include <vector>

namespace gpuprof::perfetto {
namespace {

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
    steady_progress progress(job_);
    ordered_rows<metric_sample_record> rows(job_.trace.file());
    while (auto const* row = rows.next()) {
      if (row->start != start_) write_interval();
      start_ = row->start;
      take(*row);
      progress.advance();
    }
    write_interval();
  }

 private:
  struct sampled_metric {
    device_id device{};
    bool is_count = false;
  };
  struct interval {
    timestamp_ns end;  // of the last one written
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

  void take(metric_sample_record const& row) {
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
      // A value is of the time since the one before it: after a gap that has to begin.
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

void write_counter_samples(packet_file& file, export_job& job) {
  counter_samples(file, job).write();
}

}  // namespace gpuprof::perfetto
