#include "analyse/metric_summary.hpp"

#include <algorithm>
#include <map>

namespace gpuprof {
namespace {

struct part {
  std::uint32_t workload = 0;
  std::uint64_t launches = 0;
};

/// A row for each metric that was read in one of the parts.
void add_rows(std::vector<metric_row>& rows, metric_row const& begun, launch_metrics const& metrics,
              workload_times const& times, std::span<part const> parts) {
  for (auto const& name : metrics.names()) {
    auto row = begun;
    row.metric = name;
    double sum = 0;
    running_mean all;
    for (auto const& [workload, launches] : parts) {
      auto const* const values = metrics.find(times.id(workload), name);
      if (values == nullptr) continue;
      row.launches += launches;
      sum += values->mean() * static_cast<double>(launches);
      all.add(*values);
    }
    if (row.launches == 0) continue;
    row.samples = all.count();
    row.average = sum / static_cast<double>(row.launches);
    row.deviation = all.deviation();
    if (name.ends_with(".sum")) row.total = sum;
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<metric_row> metrics_by_kernel(launch_metrics const& metrics,
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

std::vector<metric_row> metrics_by_range(launch_metrics const& metrics, workload_times const& times,
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
