#include "analyse/metric_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace gpuprof {
namespace {

struct part {
  std::uint32_t workload = 0;
  std::uint64_t launches = 0;
};

/// A row for each metric that was read in one of the parts.
void add_rows(std::vector<metric_row>& rows, metric_row const& begun,
              workload_metrics const& metrics, workload_times const& times,
              std::span<part const> parts) {
  for (auto const& name : metrics.names()) {
    auto row = begun;
    row.metric = name;
    double sum = 0, error = 0;
    running_mean readings;
    for (auto const& [workload, launches] : parts) {
      auto const& id = times.id(workload);
      auto const figure = metrics.find(id, name);
      if (!figure) continue;
      auto const n = static_cast<double>(launches);
      row.launches += launches;
      row.samples += figure->count;
      row.source = both(row.source, figure->source);
      row.is_shared = row.is_shared || figure->is_shared;
      sum += figure->mean * n;
      error = std::hypot(error, figure->error * n);
      if (figure->source == figure_source::exact) readings.add(*metrics.exact().find(id, name));
    }
    if (row.launches == 0) continue;
    row.average = sum / static_cast<double>(row.launches);
    row.error = error / static_cast<double>(row.launches);
    if (row.source == figure_source::exact) row.deviation = readings.deviation();
    if (name.ends_with(".sum")) row.total = sum;
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<metric_row> metrics_by_kernel(workload_metrics const& metrics,
                                          workload_times const& times,
                                          kernel_labels const& labels) {
  struct line {
    std::string name;
    double ns = 0;
    std::vector<part> parts;
  };
  std::map<std::string, line> by_name;
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    auto name = listed_name(times.id(i), labels);
    auto& line = by_name[name];
    line.name = std::move(name);
    line.ns += times.time_of(i, times.tally(i));
    line.parts.push_back({i, times.tally(i).launches});
  }
  std::vector<line> lines;
  for (auto& [name, of_name] : by_name) lines.push_back(std::move(of_name));
  std::stable_sort(lines.begin(), lines.end(),
                   [](line const& a, line const& b) { return a.ns > b.ns; });
  std::vector<metric_row> rows;
  for (auto const& of_kernel : lines) {
    metric_row begun;
    begun.name = of_kernel.name;
    add_rows(rows, begun, metrics, times, of_kernel.parts);
  }
  return rows;
}

std::vector<metric_row> metrics_by_range(workload_metrics const& metrics,
                                         workload_times const& times,
                                         std::span<range_work const> ranges) {
  struct line {
    range_work const* range = nullptr;
    double ns = 0;
  };
  std::vector<line> lines;
  for (auto const& range : ranges) {
    double ns = 0;
    for (auto const& [workload, tally] : range.workloads) ns += times.time_of(workload, tally);
    lines.push_back({&range, ns});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](line const& a, line const& b) { return a.ns > b.ns; });
  std::vector<metric_row> rows;
  for (auto const& of_range : lines) {
    metric_row begun;
    begun.range = of_range.range->key;
    begun.instances = of_range.range->instances;
    std::vector<part> parts;
    for (auto const& [workload, tally] : of_range.range->workloads)
      parts.push_back({workload, tally.launches});
    add_rows(rows, begun, metrics, times, parts);
  }
  return rows;
}

}  // namespace gpuprof
