// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/writers.hpp"
#include "host/export/measured_figures.hpp"
#include "host/reading/ordered_rows.hpp"

#include <map>
#include <unordered_map>

namespace gpuprof::host::chrome {
namespace {

struct sampled_metric {
  std::string name = "\"(unknown metric)\"";
  device_id device{};
  timestamp_ns until;  // the end of its last interval
};

}  // namespace

void write_samples(export_job& job, event_writer& to) {
  auto& file = job.trace.file();
  if (file.row_count<sample_record>() == 0) return;
  std::unordered_map<metric_id, sampled_metric> metrics;
  file.for_each<metric_record>([&](std::span<metric_record const> rows) {
    for (auto const& metric : rows)
      metrics[metric.metric] = {quoted(job.names.text(metric.name)), metric.device, {}};
  });
  auto const end_of = [&](sampled_metric const& metric) {
    if (metric.until.value != 0) to.counter(metric.name, raw(metric.device), metric.until, 0);
  };
  file.for_each<sample_record>([&](std::span<sample_record const> rows) {
    for (auto const& sample : rows) {
      auto& metric = metrics[sample.metric];
      if (metric.until != sample.start) end_of(metric);
      to.counter(metric.name, raw(metric.device), sample.start, sample.value);
      metric.until = sample.start + sample.duration;
    }
    job.advance(rows.size());
  });
  for (auto const& [id, metric] : metrics) end_of(metric);
}

void write_chip_states(export_job& job, event_writer& to) {
  ordered_rows<chip_state_record> rows(job.trace.file());
  while (auto const* row = rows.next())
    for (auto const& figure : chip_state_figures)
      if (auto const value = figure.value(*row); value > 0)
        to.counter(quoted(std::string(figure.name) + " (" + figure.unit + ")"), raw(row->device),
                   row->time, value);
}

void write_memory(export_job& job, event_writer& to) {
  std::map<device_id, std::int64_t> allocated;
  std::unordered_map<std::uint64_t, std::uint64_t> sizes;  // by address: releases may have no size
  ordered_rows<memory_record> rows(job.trace.file());
  auto const name = quoted("allocated since the capture began (bytes)");
  while (auto const* row = rows.next()) {
    if (row->kind != memory_kind::device && row->kind != memory_kind::managed) continue;
    auto& bytes = allocated[row->device];
    if (row->operation == memory_operation::allocate) {
      sizes[row->address] = row->bytes;
      bytes += static_cast<std::int64_t>(row->bytes);
    } else if (row->operation == memory_operation::release) {
      auto const known = sizes.find(row->address);
      if (known == sizes.end()) continue;  // allocated before the capture began
      bytes -= static_cast<std::int64_t>(known->second);
      sizes.erase(known);
    }
    to.counter(name, raw(row->device), row->time, static_cast<double>(bytes));
    job.advance(0);
  }
}

}  // namespace gpuprof::host::chrome
