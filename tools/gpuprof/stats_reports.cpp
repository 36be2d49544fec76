// SPDX-License-Identifier: Apache-2.0
#include "stats_reports.hpp"

#include "base/nearest_name.hpp"
#include "base/readable.hpp"
#include "host/reading/trace_contents.hpp"
#include "host/replay/step_paths.hpp"
#include "host/report/critical_path_table.hpp"
#include "lines/line_report.hpp"
#include "progress.hpp"
#include "trace_pass.hpp"
#include "whatif/read_steps.hpp"
#include "whatif/replay_check.hpp"
#include "words_of_others.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace gpuprof::host::command {

// The makers of reports that are each in a file of its own.
std::unique_ptr<own_report> make_nccl_sum(own_report_inputs const& inputs);

namespace {

constexpr std::size_t max_subjects = 20;  // kernels, calls and ranges on the path

finished_report no_path(std::string why) {
  return {report::critical_path_table({}), std::move(why), {}};
}

std::string chosen_note(replay::step_paths const& paths, steps_of_capture const& read) {
  auto const slowest = paths.slowest.steps;
  return "of " + readable_count(paths.steps) + " replayed of " + counted(read.all_steps, "steps") +
         " \"" + read.name + "\": the median step, and " +
         (slowest == 1 ? "the slowest (Slow)"
                       : "the mean of the " + readable_count(slowest) + " slowest (Slow)");
}

/// Walks over the capture. The report says why if the steps cannot be replayed.
finished_report critical_path_report(trace_contents& trace, stats_inputs const& inputs) {
  auto const& filters = inputs.filters;
  if (!filters.time.empty() || !filters.kernels.empty() || filters.device || filters.stream)
    return no_path("a path goes through all work of a step; only --filter-nvtx selects steps");
  auto read = read_steps(trace, {.step_name = inputs.step,
                                 .within = filters.nvtx,
                                 .phase = {},
                                 .launches = nullptr,
                                 .max_items = max_replayed_items});
  if (!read) return no_path(read.message());
  replay::step_graph const graph(std::move(read->steps));
  replay::step_edit const unchanged(graph);
  auto const replayed = replay::replay(unchanged);
  auto const step_ns = replayed.total_ns() / std::max<double>(1, graph.recorded().steps);
  if (auto const wrong = why_not_replayed(graph, step_ns); !wrong.empty()) return no_path(wrong);
  auto const paths = replay::step_paths_of(unchanged, replayed, max_subjects);
  if (paths.steps == 0)
    return no_path("GPU work from before the first step hides a part of each step \"" + read->name +
                   "\"");
  finished_report finished{report::critical_path_table(paths), {}, {chosen_note(paths, *read)}};
  if (auto const hidden = graph.recorded().steps - paths.steps; hidden > 0)
    finished.notes.push_back(counted(hidden, "steps") + " " + (hidden == 1 ? "is" : "are") +
                             " left out: GPU work from before the first one hides a part");
  finished.notes.insert(finished.notes.end(), read->remarks.begin(), read->remarks.end());
  return finished;
}

struct named_report {
  std::string_view name;
  std::string_view title;
  report_kind kind;
  make_own_report make = nullptr;
};

constexpr std::array named_reports = {
    named_report{"cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", report_kind::cuda_gpu_kern_sum},
    named_report{"cuda_gpu_kern_gb_sum", "CUDA GPU Kernel/Grid/Block Summary",
                 report_kind::cuda_gpu_kern_gb_sum},
    named_report{"cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)",
                 report_kind::cuda_gpu_mem_time_sum},
    named_report{"cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)",
                 report_kind::cuda_gpu_mem_size_sum},
    named_report{"cuda_gpu_sum", "CUDA GPU Summary (Kernels/MemOps)", report_kind::cuda_gpu_sum},
    named_report{"cuda_api_sum", "CUDA API Summary", report_kind::cuda_api_sum},
    named_report{"cuda_api_gpu_sum", "CUDA Summary (API/Kernels/MemOps)",
                 report_kind::cuda_api_gpu_sum},
    named_report{"cuda_gpu_trace", "CUDA GPU Trace", report_kind::cuda_gpu_trace},
    named_report{"cuda_kern_exec_sum", "CUDA Kernel Launch & Exec Time Summary",
                 report_kind::cuda_kern_exec_sum},
    named_report{"nvtx_sum", "NVTX Range Summary", report_kind::nvtx_sum},
    named_report{"nvtx_pushpop_sum", "NVTX Push/Pop Range Summary", report_kind::nvtx_pushpop_sum},
    named_report{"nvtx_pushpop_trace", "NVTX Push/Pop Range Trace",
                 report_kind::nvtx_pushpop_trace},
    named_report{"nvtx_startend_sum", "NVTX Start/End Range Summary",
                 report_kind::nvtx_startend_sum},
    named_report{"nvtx_kern_sum", "NVTX Range Kernel Summary", report_kind::nvtx_kern_sum},
    named_report{"nvtx_gpu_proj_sum", "NVTX GPU Projection Summary",
                 report_kind::nvtx_gpu_proj_sum},
    named_report{"gpu_metrics_sum", "GPU Metrics Summary", report_kind::gpu_metrics_sum},
    named_report{"nvtx_metrics_sum", "NVTX Range Metrics Summary", report_kind::nvtx_metrics_sum},
    named_report{"um_sum", "Unified Memory Analysis Summary", report_kind::um_sum},
    named_report{"um_total_sum", "Unified Memory Totals Summary", report_kind::um_total_sum},
    named_report{"nccl_sum", "NCCL Collectives Summary", report_kind::own, make_nccl_sum},
    named_report{"critical_path", "Critical Path of a Step", report_kind::critical_path},
    named_report{"py_line_sum", "GPU Work by Python Line", report_kind::py_line_sum},
    named_report{"py_function_sum", "GPU Work by Python Function", report_kind::py_function_sum},
    named_report{"py_module_sum", "GPU Work by PyTorch Module", report_kind::py_module_sum},
    named_report{"torch_op_sum", "GPU Work by PyTorch Operator", report_kind::torch_op_sum},
    named_report{"idle_cause_sum", "What the CPU Did While the GPU Was Idle",
                 report_kind::idle_cause_sum},
    named_report{"ranks_sum", "Rank Summary", report_kind::ranks_sum},
    named_report{"ranks_range_sum", "NVTX Ranges over Ranks", report_kind::ranks_range_sum},
    named_report{"ranks_kern_sum", "Kernels over Ranks", report_kind::ranks_kern_sum},
    named_report{"ranks_collective_sum", "Collectives over Ranks",
                 report_kind::ranks_collective_sum},
};

}  // namespace

std::vector<std::string> report_name_list() {
  std::vector<std::string> names;
  for (auto const& report : named_reports) names.emplace_back(report.name);
  return names;
}

std::string report_names() {
  std::string text;
  for (auto const& name : report_name_list()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

result<chosen_report> parse_report(std::string_view text) {
  auto const colon = text.find(':');
  auto const name = text.substr(0, colon);
  auto const known = std::find_if(named_reports.begin(), named_reports.end(),
                                  [&](named_report const& report) { return report.name == name; });
  if (known == named_reports.end()) {
    if (auto const here = in_place_of_report(name); !here.empty())
      return error{"there is no report '" + std::string(name) + "'; " + std::string(here)};
    auto const near = nearest_name(name, report_name_list());
    return error{"there is no report '" + std::string(name) + "'" +
                 (near.empty() ? "" : ", did you mean " + near + "?") + "; choose from " +
                 report_names()};
  }
  chosen_report report{known->kind, kernel_name_style::demangled, known->make};
  if (colon == std::string_view::npos) return report;
  auto const variant = text.substr(colon + 1);
  if (variant == "base")
    report.names = kernel_name_style::base;
  else if (variant == "mangled")
    report.names = kernel_name_style::mangled;
  else if (variant == "kind")
    report.names = kernel_name_style::kind;
  else
    return error{"report '" + std::string(text) + "': ':" + std::string(variant) +
                 "' is not known; choose from :base, :mangled, :kind"};
  return report;
}

struct stats_result::contents {
  explicit contents(capture::reader file) : trace(std::move(file)) {}
  trace_contents trace;
  std::unique_ptr<trace_pass> pass;  // owns the data that tables borrow
  std::vector<finished_report> reports;
};

stats_result::stats_result(std::unique_ptr<contents> made) : contents_(std::move(made)) {}
stats_result::stats_result(stats_result&&) noexcept = default;
stats_result::~stats_result() = default;

std::vector<finished_report> const& stats_result::reports() const noexcept {
  return contents_->reports;
}

text::overview stats_result::overview() const {
  return contents_->trace.overview();
}

void name_missing(finished_report& finished, report_kind kind) {
  for (auto const& named : named_reports)
    if (named.kind == kind && finished.table.name.empty()) {
      finished.table.name = named.name;
      finished.table.title = named.title;
    }
}

namespace {

/// The reports that read the capture in order of time, on their own; nothing for all others.
std::optional<finished_report> report_beside_pass(trace_contents& trace, stats_inputs const& inputs,
                                                  report_kind kind) {
  if (kind == report_kind::critical_path) return critical_path_report(trace, inputs);
  if (kind != report_kind::py_line_sum && kind != report_kind::py_function_sum &&
      kind != report_kind::py_module_sum && kind != report_kind::torch_op_sum &&
      kind != report_kind::idle_cause_sum)
    return std::nullopt;
  selection wanted;  // the filters were right when the pass was made
  (void)narrow(wanted, inputs.filters, trace, inputs.path, inputs.scope);
  if (kind == report_kind::idle_cause_sum) return idle_cause_report(trace, wanted, inputs.path);
  if (kind == report_kind::torch_op_sum) return operator_report(trace, wanted, inputs.path, false);
  line_options options;
  options.python_only = true;
  if (kind == report_kind::py_function_sum) options.grouping = stack_grouping::function;
  if (kind == report_kind::py_module_sum) options.grouping = stack_grouping::module;
  return line_report(trace, wanted, inputs.path, options);
}

}  // namespace

stats_outcome make_stats(stats_inputs const& inputs) {
  auto opened = capture::reader::open(inputs.path);
  if (!opened) return {{}, {opened.message(), false}};
  auto made = std::make_unique<stats_result::contents>(std::move(*opened));
  auto& trace = made->trace;

  selection wanted;
  if (auto const failed = narrow(wanted, inputs.filters, trace, inputs.path, inputs.scope))
    return {{}, {failed->message, failed->wrong_options}};

  made->pass = std::make_unique<trace_pass>(trace, std::move(wanted), inputs.scope, inputs.reports);
  capture_walk walk(trace.file());
  made->pass->join(walk);
  walk.run(progress_of("reading " + inputs.path, walk.rows()));
  made->pass->finish_reading();
  for (auto const& report : inputs.reports) {
    auto finished = report_beside_pass(trace, inputs, report.kind);
    if (!finished) finished = made->pass->finish(report);
    name_missing(*finished, report.kind);
    made->reports.push_back(*std::move(finished));
  }
  return {stats_result(std::move(made)), {}};
}

}  // namespace gpuprof::host::command
