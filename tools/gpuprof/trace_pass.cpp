// SPDX-License-Identifier: Apache-2.0
#include "trace_pass.hpp"

#include "host/report/summary_tables.hpp"
#include "host/report/trace_table.hpp"

namespace gpuprof::host::command {

trace_pass::trace_pass(trace_contents& trace, selection wanted, range_scope scope,
                       std::vector<chosen_report> const& reports)
    : trace_(trace),
      wanted_(std::move(wanted)),
      scope_(scope),
      has_filter_(!wanted_.is_everything()) {
  for (auto const& report : reports) {
    kinds_.insert(report.kind);
    if (report.make != nullptr)
      own_.emplace_back(report,
                        report.make({trace, has_filter_ ? &wanted_ : nullptr, report.names}));
    if (report.kind == report_kind::nvtx_kern_sum)
      range_kernels_.try_emplace(report.names, trace_.ranges(), trace_.open(),
                                 trace_.labels(report.names));
    if (report.kind == report_kind::cuda_kern_exec_sum)
      launches_.try_emplace(report.names, trace_.labels(report.names), trace_.text());
  }
  if (wants(report_kind::nvtx_gpu_proj_sum)) projection_.emplace(trace_.ranges(), trace_.open());
  if (projection_ || !range_kernels_.empty()) outside_.emplace(trace_.ranges(), trace_.open());
}

void trace_pass::share(summed_kernels& kernels, roofline_reading& counters) {
  summed_ = &kernels;
  counters_ = &counters;
}

void trace_pass::join(capture_walk& walk) {
  join_api_calls(walk);  // called before the kernels, because launches are matched to calls
  for (auto const& [_, own] : own_) own->join(walk);
  join_kernels(walk);
  join_other_gpu_work(walk);
  if (counters_ != nullptr || !wants_metrics()) return;
  counters_ =
      &own_counters_.emplace(trace_, std::nullopt, scope_, has_filter_ ? &wanted_ : nullptr);
  counters_->join(walk, wants(report_kind::nvtx_metrics_sum));
}

void trace_pass::finish_reading() {
  if (own_summed_) own_summed_->finish();
  if (own_counters_) own_counters_->finish();
}

void trace_pass::join_api_calls(capture_walk& walk) {
  auto const wants_sum = wants(report_kind::cuda_api_sum) || wants(report_kind::cuda_api_gpu_sum);
  if (!wants_sum && launches_.empty()) return;
  walk.add_each<api_record>({}, [this, wants_sum](api_record const& call) {
    // Launches are selected by their kernels, not here.
    for (auto& [style, launches] : launches_) launches.add(call);
    if (!wants_sum) return;
    if (has_filter_ && !wanted_.keeps(call, trace_.thread_of(call.os_thread))) return;
    api_.add(call);
  });
}

bool trace_pass::has_inferred_times() const {
  return trace_.counter("note.graph_launches_computed") > 0;
}

capture::column_set<kernel_record> trace_pass::summed_columns() const {
  auto columns = capture::only(&kernel_record::shape, &kernel_record::duration);
  if (has_filter_ || !launches_.empty()) columns.insert(&kernel_record::start);
  if (has_filter_ || outside_) columns.insert(&kernel_record::range);
  if (has_filter_ || outside_ || !launches_.empty()) {
    columns.insert(&kernel_record::launched);
    columns.insert(&kernel_record::thread);
  }
  if (has_filter_ || !launches_.empty()) {
    columns.insert(&kernel_record::device);
    columns.insert(&kernel_record::stream);
  }
  if (!launches_.empty() || has_inferred_times()) {
    columns.insert(&kernel_record::correlation);
    columns.insert(&kernel_record::graph);
  }
  if (has_inferred_times()) {
    columns.insert(&kernel_record::node);
    columns.insert(&kernel_record::time_of);
  }
  return columns;
}

capture::column_set<kernel_record> trace_pass::measured_columns() const {
  auto columns = summed_columns();
  columns.insert(&kernel_record::start);
  if (!wants(report_kind::cuda_gpu_trace)) return columns;
  columns.insert(&kernel_record::correlation);
  columns.insert(&kernel_record::device);
  columns.insert(&kernel_record::context);
  columns.insert(&kernel_record::stream);
  return columns;
}

void trace_pass::join_kernels(capture_walk& walk) {
  auto const sums = wants(report_kind::cuda_gpu_kern_sum) ||
                    wants(report_kind::cuda_gpu_kern_gb_sum) || wants_all_gpu_work();
  auto const lines = wants(report_kind::cuda_gpu_trace);
  if (lines || projection_)  // with measured times
    walk.add_each<kernel_record>(measured_columns(), [this, lines](kernel_record const& kernel) {
      if (!keeps(kernel)) return;
      if (lines) gpu_.add(kernel);
      if (projection_) projection_->add(kernel);
    });
  if (!sums && !outside_ && launches_.empty()) return;
  if (summed_ == nullptr) summed_ = &own_summed_.emplace(trace_);
  auto const add = [this, sums](std::span<kernel_record const> kernels, bool is_substituted) {
    for (auto const& kernel : kernels) {
      if (!keeps(kernel)) continue;
      substituted_ += is_substituted;
      if (sums) kernels_.add(kernel, !is_substituted);
      if (outside_) outside_->add(kernel);
      for (auto& [style, ranges] : range_kernels_) ranges.add(kernel, !is_substituted);
      auto const launched_on = launches_.empty() ? 0 : trace_.os_thread(kernel.thread);
      for (auto& [style, launches] : launches_) launches.add(kernel, launched_on);
    }
  };
  summed_->add(summed_columns(), add);
  if (own_summed_) own_summed_->join(walk);
}

template <class Row>
void trace_pass::join_memory_work(capture_walk& walk) {
  walk.add_each<Row>({}, [this, lines = wants(report_kind::cuda_gpu_trace)](Row const& row) {
    if (!keeps(row)) return;
    memory_.add(row);
    if (lines) gpu_.add(row);
    if (projection_) projection_->add(row);
  });
}

void trace_pass::join_other_gpu_work(capture_walk& walk) {
  auto const lines = wants(report_kind::cuda_gpu_trace);
  walk.add_each<graph_record>({}, [this, lines](graph_record const& graph) {
    if (!keeps(graph)) return;
    ++graphs_;
    graph_ns_ += nanoseconds(graph.duration);
    if (lines) gpu_.add(graph);
    if (projection_) projection_->add(graph);
  });
  if (wants_all_gpu_work() || wants(report_kind::cuda_gpu_mem_time_sum) ||
      wants(report_kind::cuda_gpu_mem_size_sum) || lines || projection_) {
    join_memory_work<copy_record>(walk);
    join_memory_work<memset_record>(walk);
  }
  // Unified-memory transfers have no launch, so a filter by range leaves them out.
  walk.add_each<unified_memory_record>({}, [this](unified_memory_record const& row) {
    if (!wanted_.keeps_unlaunched(row.start, row.start + row.duration)) return;
    memory_.add(row);
    migrations_.add(row);
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
    case report_kind::own:
      for (auto const& [chosen, own] : own_)
        if (chosen.make == report.make && chosen.names == report.names) return own->finish();
      break;
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
    // These are made in stats_reports.cpp and stats.cpp.
    case report_kind::critical_path:
    case report_kind::py_line_sum:
    case report_kind::py_function_sum:
    case report_kind::py_module_sum:
    case report_kind::torch_op_sum:
    case report_kind::idle_cause_sum:
    case report_kind::ranks_sum:
    case report_kind::ranks_range_sum:
    case report_kind::ranks_kern_sum:
    case report_kind::ranks_collective_sum:
      break;
  }
  return {};
}

}  // namespace gpuprof::host::command
