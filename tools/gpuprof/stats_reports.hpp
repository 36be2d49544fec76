// SPDX-License-Identifier: Apache-2.0
// Reads a capture once and makes the requested reports.
#pragma once

#include "base/result.hpp"
#include "filter_options.hpp"
#include "host/analysis/launch_ranges.hpp"
#include "model/kernel_name.hpp"
#include "own_report.hpp"
#include "stats_output.hpp"
#include "text/overview.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

enum class report_kind {
  cuda_gpu_kern_sum,
  cuda_gpu_kern_gb_sum,
  cuda_gpu_mem_time_sum,
  cuda_gpu_mem_size_sum,
  cuda_gpu_sum,
  cuda_api_sum,
  cuda_api_gpu_sum,
  cuda_gpu_trace,
  cuda_kern_exec_sum,
  nvtx_sum,
  nvtx_pushpop_sum,
  nvtx_pushpop_trace,
  nvtx_startend_sum,
  nvtx_kern_sum,
  nvtx_gpu_proj_sum,
  gpu_metrics_sum,
  nvtx_metrics_sum,
  um_sum,
  um_total_sum,
  own,  // has a maker
  critical_path,
  py_line_sum,
  py_function_sum,
  py_module_sum,
  torch_op_sum,
  idle_cause_sum,
  ranks_sum,
  ranks_range_sum,
  ranks_kern_sum,
  ranks_collective_sum,
};

/// True if a report is about the ranks of a job, whatever their number.
inline bool is_over_ranks(report_kind kind) noexcept {
  return kind >= report_kind::ranks_sum;
}

struct chosen_report {
  report_kind kind{};
  kernel_name_style names = kernel_name_style::demangled;
  make_own_report make = nullptr;  // null: one of the reports that share data
};

/// Parses NAME[:base|:mangled].
result<chosen_report> parse_report(std::string_view text);
std::vector<std::string> report_name_list();
/// Returns all names, separated by commas.
std::string report_names();

struct stats_inputs {
  std::string path;
  std::vector<chosen_report> reports;
  filter_options filters;
  range_scope scope = range_scope::process;
  std::string step;  // critical_path: the range that is a step; empty: found
};

/// Finished reports with the data that they borrow.
class stats_result {
 public:
  struct contents;
  explicit stats_result(std::unique_ptr<contents> made);
  stats_result(stats_result&&) noexcept;
  ~stats_result();

  text::overview overview() const;
  std::vector<finished_report> const& reports() const noexcept;

 private:
  std::unique_ptr<contents> contents_;
};

/// Gives `finished` the name and title of a report that could not be made.
void name_missing(finished_report& finished, report_kind kind);

/// The reason of a failure. If `wrong_options` is set, the request is invalid; otherwise the file
/// is the cause.
struct stats_failure {
  std::string message;
  bool wrong_options = false;
};

/// Holds either the result or the failure.
struct stats_outcome {
  std::optional<stats_result> made;
  stats_failure failure;
};
stats_outcome make_stats(stats_inputs const& inputs);

}  // namespace gpuprof::host::command
