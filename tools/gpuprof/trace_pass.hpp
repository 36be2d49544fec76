// SPDX-License-Identifier: Apache-2.0
// Collects the data for the requested reports of `gpuprof stats` during a walk over a capture.
#pragma once

#include "host/analysis/api_summary.hpp"
#include "host/analysis/gpu_trace.hpp"
#include "host/analysis/kernel_summary.hpp"
#include "host/analysis/launch_summary.hpp"
#include "host/analysis/memory_summary.hpp"
#include "host/analysis/range_summary.hpp"
#include "host/analysis/selection.hpp"
#include "host/reading/capture_walk.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/summed_kernels.hpp"
#include "host/reading/trace_contents.hpp"
#include "stats_reports.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

class trace_pass {
 public:
  trace_pass(trace_contents& trace, selection wanted, range_scope scope,
             std::vector<chosen_report> const& reports);

  /// Call it before join(): uses readings that others read in the same walk, with the same contents
  /// as without a filter.
  void share(summed_kernels& kernels, roofline_reading& counters);
  void join(capture_walk& walk);
  /// Call it after the walk, when the shared readings are finished.
  void finish_reading();
  /// Call it after finish_reading(), once per report.
  finished_report finish(chosen_report const& report);

 private:
  void join_api_calls(capture_walk& walk);
  void join_kernels(capture_walk& walk);
  void join_other_gpu_work(capture_walk& walk);
  capture::column_set<kernel_record> summed_columns() const;
  capture::column_set<kernel_record> measured_columns() const;
  /// Launches of graphs have the times of others.
  bool has_inferred_times() const;
  bool wants(report_kind kind) const { return kinds_.contains(kind); }
  bool wants_metrics() const {
    return wants(report_kind::gpu_metrics_sum) || wants(report_kind::nvtx_metrics_sum);
  }
  template <class Row>
  bool keeps(Row const& row) const {
    return !has_filter_ || wanted_.keeps(row);
  }
  template <class Row>
  void join_memory_work(capture_walk& walk);

  finished_report kernel_report(chosen_report const& report);
  finished_report memory_report(chosen_report const& report);
  finished_report migration_report(chosen_report const& report);
  finished_report range_report(chosen_report const& report);
  finished_report api_report();
  /// Makes one table of kernels, copies and fills, with or without calls.
  finished_report work_report(chosen_report const& report);
  bool wants_all_gpu_work() const {
    return wants(report_kind::cuda_gpu_sum) || wants(report_kind::cuda_api_gpu_sum);
  }
  finished_report launch_report(chosen_report const& report);
  finished_report trace_report(chosen_report const& report);
  finished_report metric_report(chosen_report const& report);
  std::vector<std::string> range_notes() const;
  std::string outside_note() const;
  std::vector<std::string> slowed_notes() const;
  std::vector<std::string> graph_notes() const;
  static std::vector<std::string> inferred_notes(bool any);
  std::vector<std::string> kernel_notes() const;  // graph and slowed notes

  trace_contents& trace_;
  selection const wanted_;
  range_scope const scope_;
  std::set<report_kind> kinds_;
  bool has_filter_;

  kernel_durations kernels_;
  memory_operations memory_;
  migrations migrations_;
  api_calls api_;
  gpu_trace gpu_;
  std::optional<range_projection> projection_;
  std::optional<outside_ranges> outside_;
  std::uint64_t substituted_ = 0;  // launches whose time was replaced by that of others
  // Null if not needed. They point to own readings or to shared ones.
  summed_kernels* summed_ = nullptr;
  roofline_reading* counters_ = nullptr;
  std::optional<summed_kernels> own_summed_;
  std::optional<roofline_reading> own_counters_;
  // One per requested style of kernel names.
  std::map<kernel_name_style, range_kernels> range_kernels_;
  std::map<kernel_name_style, launch_times> launches_;
  std::vector<std::pair<chosen_report, std::unique_ptr<own_report>>> own_;
  std::uint64_t graphs_ = 0;
  std::uint64_t graph_ns_ = 0;
};

}  // namespace gpuprof::host::command
