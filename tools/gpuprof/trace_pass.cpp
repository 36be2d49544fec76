// SPDX-License-Identifier: Apache-2.0
#include "trace_pass.hpp"

#include "host/report/summary_tables.hpp"
#include "host/report/trace_table.hpp"
#include "slowed_reading.hpp"

namespace gpuprof {

trace_pass::trace_pass(trace_contents& trace, selection wanted, range_scope scope,
                       std::vector<chosen_report> const& reports)
    : trace_(trace),
      wanted_(std::move(wanted)),
      scope_(scope),
      has_filter_(!wanted_.is_everything()) {
  for (auto const& report : reports) {
    kinds_.insert(report.kind);
    if (report.kind == report_kind::nvtx_kern_sum)
      range_kernels_.try_emplace(report.names, trace_.ranges(), trace_.open(),
                                 trace_.labels(report.names));
    if (report.kind == report_kind::cuda_kern_exec_sum)
      launches_.try_emplace(report.names, trace_.labels(report.names), trace_.text());
  }
  if (wants(report_kind::nccl_sum)) collectives_.emplace(trace_.text());
  if (wants(report_kind::nvtx_gpu_proj_sum)) projection_.emplace(trace_.ranges(), trace_.open());
  if (projection_ || !range_kernels_.empty()) outside_.emplace(trace_.ranges(), trace_.open());
}

void trace_pass::read() {
  auto& file = trace_.file();
  progress_line progress("reading " + file.path(),
                         file.row_count<kernel_record>() + file.row_count<api_record>() +
                             file.row_count<copy_record>() + file.row_count<memset_record>());
  read_api_calls(progress);  // before the kernels: launches are matched to calls
  read_kernels(progress);
  read_other_gpu_work(progress);
  if (!wants(report_kind::gpu_metrics_sum) && !wants(report_kind::nvtx_metrics_sum)) return;
  counters_.emplace(trace_, std::nullopt, scope_, has_filter_ ? &wanted_ : nullptr);
  counters_->read(wants(report_kind::nvtx_metrics_sum));
}

void trace_pass::read_api_calls(progress_line& progress) {
  auto const wants_sum = wants(report_kind::cuda_api_sum) || wants(report_kind::cuda_api_gpu_sum);
  if (!wants_sum && launches_.empty()) return;
  trace_.file().for_each<api_record>([&](std::span<api_record const> calls) {
    for (auto const& call : calls) {
      // Launches are selected by their kernels, not here.
      for (auto& [style, launches] : launches_) launches.add(call);
      if (!wants_sum) continue;
      if (has_filter_ && !wanted_.keeps(call, trace_.thread_of(call.os_thread))) continue;
      api_.add(call);
    }
    progress.advance(calls.size());
  });
}

capture::column_set<kernel_record> trace_pass::kernel_columns() const {
  auto columns = capture::only(&kernel_record::shape, &kernel_record::duration);
  auto const has_ranges = projection_ || !range_kernels_.empty() || collectives_;
  auto const has_lines = wants(report_kind::cuda_gpu_trace) || !launches_.empty();
  add_columns_of(slowed_, columns);
  if (has_filter_ || projection_ || has_lines || collectives_)
    columns.insert(&kernel_record::start);
  if (has_filter_) {
    columns.insert(&kernel_record::device);
    columns.insert(&kernel_record::stream);
  }
  if (has_filter_ || has_ranges) columns.insert(&kernel_record::range);
  if (has_filter_ || has_ranges || !launches_.empty()) {
    columns.insert(&kernel_record::launched);
    columns.insert(&kernel_record::thread);
  }
  if (has_lines) {
    columns.insert(&kernel_record::correlation);
    columns.insert(&kernel_record::device);
    columns.insert(&kernel_record::context);
    columns.insert(&kernel_record::stream);
  }
  if (!launches_.empty()) columns.insert(&kernel_record::graph);
  return columns;
}

void trace_pass::read_kernels(progress_line& progress) {
  auto const sums = wants(report_kind::cuda_gpu_kern_sum) ||
                    wants(report_kind::cuda_gpu_kern_gb_sum) || wants_all_gpu_work();
  auto const lines = wants(report_kind::cuda_gpu_trace);
  if (!sums && !lines && !projection_ && range_kernels_.empty() && launches_.empty() &&
      !collectives_)
    return;
  if (collectives_) {
    auto const add_all = [&](auto rows) {
      for (auto const& row : rows) collectives_->add(row);
    };
    trace_.file().for_each<mark_record>([&](std::span<mark_record const> rows) { add_all(rows); });
    trace_.file().for_each<range_begin>([&](std::span<range_begin const> rows) { add_all(rows); });
  }
  slowed_ = read_slowed_launches(trace_);
  trace_.file().for_each<kernel_record>(
      [&](std::span<kernel_record const> kernels) {
        for (auto kernel : kernels) {
          if (has_filter_ && !wanted_.keeps(kernel)) continue;
          if (lines) gpu_.add(kernel);
          if (projection_) projection_->add(kernel);
          if (collectives_) collectives_->add(kernel);
          if (auto const instead = slowed_.undisturbed(kernel)) {  // in all sums of durations
            kernel.duration = *instead;
            ++substituted_;
          }
          if (sums) kernels_.add(kernel);
          if (outside_) outside_->add(kernel);
          for (auto& [style, ranges] : range_kernels_) ranges.add(kernel);
          auto const launched_on = launches_.empty() ? 0 : trace_.os_thread(kernel.thread);
          for (auto& [style, launches] : launches_) launches.add(kernel, launched_on);
        }
        progress.advance(kernels.size());
      },
      kernel_columns());
}

template <class Row>
void trace_pass::read_memory_work(progress_line& progress) {
  auto const lines = wants(report_kind::cuda_gpu_trace);
  trace_.file().for_each<Row>([&](std::span<Row const> rows) {
    for (auto const& row : rows) {
      if (has_filter_ && !wanted_.keeps(row)) continue;
      memory_.add(row);
      if (lines) gpu_.add(row);
      if (projection_) projection_->add(row);
    }
    progress.advance(rows.size());
  });
}

void trace_pass::read_other_gpu_work(progress_line& progress) {
  auto const lines = wants(report_kind::cuda_gpu_trace);
  if (wants_all_gpu_work() || wants(report_kind::cuda_gpu_mem_time_sum) ||
      wants(report_kind::cuda_gpu_mem_size_sum) || lines || projection_) {
    read_memory_work<copy_record>(progress);
    read_memory_work<memset_record>(progress);
  }
  // Unified-memory transfers are nobody's launch: a filter by range leaves them out.
  trace_.file().for_each<unified_memory_record>([&](std::span<unified_memory_record const> rows) {
    for (auto const& row : rows) {
      if (!wanted_.keeps_unlaunched(row.start, row.start + row.duration)) continue;
      memory_.add(row);
      migrations_.add(row);
    }
  });
  trace_.file().for_each<graph_record>([&](std::span<graph_record const> graphs) {
    for (auto const& graph : graphs) {
      if (has_filter_ && !wanted_.keeps(graph)) continue;
      ++graphs_;
      graph_ns_ += nanoseconds(graph.duration);
      if (lines) gpu_.add(graph);
      if (projection_) projection_->add(graph);
    }
  });
}

finished_report trace_pass::finish(chosen_report const& report) {
  switch (report.kind) {
    case report_kind::cuda_gpu_kern_sum:
    case report_kind::cuda_gpu_kern_gb_sum:
      return kernel_report(report);
    case report_kind::cuda_gpu_mem_time_sum:
    case report_kind::cuda_gpu_mem_size_sum:
      return memory_report(report);
    case report_kind::um_sum:
    case report_kind::um_total_sum:
      return migration_report(report);
    case report_kind::cuda_api_sum:
      return api_report();
    case report_kind::cuda_gpu_sum:
    case report_kind::cuda_api_gpu_sum:
      return work_report(report);
    case report_kind::cuda_gpu_trace:
      return trace_report(report);
    case report_kind::cuda_kern_exec_sum:
      return launch_report(report);
    case report_kind::nccl_sum:
      return collective_report();
    case report_kind::nvtx_sum:
    case report_kind::nvtx_pushpop_sum:
    case report_kind::nvtx_pushpop_trace:
    case report_kind::nvtx_startend_sum:
    case report_kind::nvtx_kern_sum:
    case report_kind::nvtx_gpu_proj_sum:
      return range_report(report);
    case report_kind::gpu_metrics_sum:
    case report_kind::nvtx_metrics_sum:
      return metric_report(report);
    case report_kind::ranks_sum:
    case report_kind::ranks_range_sum:
    case report_kind::ranks_kern_sum:
    case report_kind::ranks_collective_sum:
      break;  // see ranks/rank_stats.hpp
  }
  return {};
}

}  // namespace gpuprof
