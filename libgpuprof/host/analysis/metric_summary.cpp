// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/metric_summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace gpuprof::host {
namespace {

struct part {
  std::uint32_t workload = 0;
  std::uint64_t launches = 0;
};

/// Sums a metric over launches and makes a row of it.
class metric_sum {
 public:
  metric_sum(workload_metrics const& metrics, workload_times const& times, std::string const& name)
      : metrics_(metrics), times_(times), name_(name) {}

  /// If the metric was not read around a graph, uses the graph's kernels.
  void add(part const& of) {
    if (add_known(of) || !times_.is_level_above(of.workload)) return;
    auto const all = static_cast<double>(times_.tally(of.workload).launches);
    for (auto const& [node, tally] : times_.nodes(of.workload)) {
      auto const share = static_cast<double>(of.launches) / all;
      auto const launches = std::llround(static_cast<double>(tally.launches) * share);
      add_known({node, static_cast<std::uint64_t>(launches)});
    }
  }
  bool is_empty() const noexcept { return row_.launches == 0; }
  metric_row row(metric_row const& begun) const {
    auto made = row_;
    made.metric = name_;
    made.name = begun.name;
    made.range = begun.range;
    made.is_outside = begun.is_outside;
    made.instances = begun.instances;
    made.average = sum_ / static_cast<double>(made.launches);
    made.error = error_ / static_cast<double>(made.launches);
    if (made.source == figure_source::exact) made.deviation = readings_.deviation();
    if (name_.ends_with(".sum")) made.total = sum_;
    return made;
  }

 private:
  bool add_known(part const& of) {
    auto const& id = times_.id(of.workload);
    auto const figure = metrics_.find(id, name_);
    if (!figure) return false;
    auto const n = static_cast<double>(of.launches);
    row_.launches += of.launches;
    row_.samples += figure->count;
    row_.source = both(row_.source, figure->source);
    row_.is_shared = row_.is_shared || figure->is_shared;
    sum_ += figure->mean * n;
    error_ = std::hypot(error_, figure->error * n);
    if (figure->source == figure_source::exact)
      readings_.add(*metrics_.exact().find(metrics_.counted_as(id), name_));
    return true;
  }

  workload_metrics const& metrics_;
  workload_times const& times_;
  std::string const& name_;
  metric_row row_;
  double sum_ = 0, error_ = 0;
  running_mean readings_;
};

/// Adds a row for each metric that was read in any of the parts.
void add_rows(std::vector<metric_row>& rows, metric_row const& begun,
              workload_metrics const& metrics, workload_times const& times,
              std::span<part const> parts) {
  for (auto const& name : metrics.names()) {
    metric_sum sum(metrics, times, name);
    for (auto const& part : parts) sum.add(part);
    if (!sum.is_empty()) rows.push_back(sum.row(begun));
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
    // A graph that was read as a whole is listed in addition to its kernels.
    if (times.is_level_above(i) && !metrics.exact().has_workload(times.id(i))) continue;
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
    begun.is_outside = of_range.range->is_outside;
    begun.instances = of_range.range->instances;
    std::vector<part> parts;
    for (auto const& [workload, tally] : of_range.range->workloads)
      parts.push_back({workload, tally.launches});
    add_rows(rows, begun, metrics, times, parts);
  }
  return rows;
}

}  // namespace gpuprof::host
