// SPDX-License-Identifier: Apache-2.0
// One pass over the records of a capture that feeds everything the wanted reports need.
#pragma once

#include "host/analysis/api_summary.hpp"
#include "host/analysis/collective_summary.hpp"
#include "host/analysis/gpu_trace.hpp"
#include "host/analysis/kernel_summary.hpp"
#include "host/analysis/launch_summary.hpp"
#include "host/analysis/memory_summary.hpp"
#include "host/analysis/migration_summary.hpp"
#include "host/analysis/outside_ranges.hpp"
#include "host/analysis/range_kernels.hpp"
#include "host/analysis/range_summary.hpp"
#include "host/analysis/selection.hpp"
#include "host/analysis/slowed_launches.hpp"
#include "host/reading/trace_contents.hpp"
#include "progress.hpp"
#include "roofline_reading.hpp"
#include "stats_reports.hpp"

#include <map>
#include <optional>
#include <set>

namespace gpuprof {

class trace_pass {
 public:
  trace_pass(trace_contents& trace, selection wanted, range_scope scope,
             std::vector<chosen_report> const& reports);

  void read();
  /// After read(); once for each report.
  finished_report finish(chosen_report const& report);

 private:
  void read_api_calls(progress_line& progress);
  void read_kernels(progress_line& progress);
  void read_other_gpu_work(progress_line& progress);
  capture::column_set<kernel_record> kernel_columns() const;
  bool wants(report_kind kind) const { return kinds_.contains(kind); }
  template <class Row>
  void read_memory_work(progress_line& progress);

  finished_report kernel_report(chosen_report const& report);
  finished_report memory_report(chosen_report const& report);
  finished_report migration_report(chosen_report const& report);
  finished_report range_report(chosen_report const& report);
  finished_report api_report();
  /// Kernels, copies and fills in one table, with or without calls.
  finished_report work_report(chosen_report const& report);
  bool wants_all_gpu_work() const {
    return wants(report_kind::cuda_gpu_sum) || wants(report_kind::cuda_api_gpu_sum);
  }
  finished_report launch_report(chosen_report const& report);
  finished_report collective_report();
  finished_report trace_report(chosen_report const& report);
  finished_report metric_report(chosen_report const& report);
  std::vector<std::string> range_notes() const;
  std::string outside_note() const;
  std::vector<std::string> slowed_notes() const;
  std::vector<std::string> graph_notes() const;
  std::vector<std::string> kernel_notes() const;  // both

  trace_contents& trace_;
  selection const wanted_;
  range_scope const scope_;
  std::set<report_kind> kinds_;
  bool has_filter_;

  kernel_durations kernels_;
  memory_operations memory_;
  migrations migrations_;
  api_calls api_;
  std::optional<collective_times> collectives_;
  gpu_trace gpu_;
  std::optional<range_projection> projection_;
  std::optional<outside_ranges> outside_;
  slowed_launches slowed_;
  std::uint64_t substituted_ = 0;  // launches for whose time that of others stands
  std::optional<roofline_reading> counters_;
  // One for each way of naming kernels that was asked for.
  std::map<kernel_name_style, range_kernels> range_kernels_;
  std::map<kernel_name_style, launch_times> launches_;
  std::uint64_t graphs_ = 0;
  std::uint64_t graph_ns_ = 0;
};

}  // namespace gpuprof
