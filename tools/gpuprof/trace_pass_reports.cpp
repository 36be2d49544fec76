// SPDX-License-Identifier: Apache-2.0
// The second half of a pass: makes tables from the collected data, or says why there are none.
#include "base/readable.hpp"
#include "host/report/summary_tables.hpp"
#include "host/report/trace_table.hpp"
#include "sampling_notes.hpp"
#include "trace_pass.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

namespace gpuprof::host::command {
namespace {

constexpr auto blocking_calls_only =
    "blocking calls only: those that wait, allocate or load; --trace=cuda-api records all";

template <class Rows>
finished_report table_or(std::string reason, Rows rows, text::table (*lay_out)(Rows)) {
  auto const is_empty = rows.empty();
  return {lay_out(std::move(rows)), is_empty ? std::move(reason) : std::string{}, {}};
}

void add_notes(finished_report& to, std::vector<std::string> notes) {
  std::move(notes.begin(), notes.end(), std::back_inserter(to.notes));
}

}  // namespace

finished_report trace_pass::kernel_report(chosen_report const& report) {
  auto const& labels = trace_.labels(report.names);
  auto const reason = has_filter_ ? "no kernel passes the filter" : "the capture holds no kernels";
  auto finished =
      report.kind == report_kind::cuda_gpu_kern_sum
          ? table_or(reason, kernels_by_name(kernels_, labels), report::kernel_table)
          : table_or(reason, kernels_by_name_and_geometry(kernels_, labels, trace_.shapes()),
                     report::kernel_geometry_table);
  finished.notes = kernel_notes();
  add_notes(finished, inferred_notes(kernels_.inferred().any()));
  return finished;
}

finished_report trace_pass::memory_report(chosen_report const& report) {
  auto const reason =
      has_filter_ ? "no copy or fill passes the filter" : "the capture holds no copies or fills";
  if (report.kind == report_kind::cuda_gpu_mem_size_sum)
    return table_or(reason, memory_.by_size(), report::memory_size_table);
  auto finished = table_or(reason, memory_.by_time(), report::memory_time_table);
  finished.notes = inferred_notes(memory_.any_inferred());
  return finished;
}

finished_report trace_pass::migration_report(chosen_report const& report) {
  finished_report finished;
  finished.table = report.kind == report_kind::um_sum
                       ? report::migration_table(migrations_.by_address())
                       : report::migration_total_table(migrations_.totals());
  if (migrations_.empty())
    finished.missing =
        has_filter_ ? "no migration of unified memory passes the filter"
                    : "the capture holds no migrations of unified memory; --trace=um records them";
  else
    finished.notes.emplace_back("page faults are not recorded");
  return finished;
}

finished_report trace_pass::work_report(chosen_report const& report) {
  auto const with_calls = report.kind == report_kind::cuda_api_gpu_sum;
  auto rows =
      report::work_of(kernels_by_name(kernels_, trace_.labels(report.names)), memory_.by_time(),
                      with_calls ? api_.rows(trace_.text()) : std::vector<api_row>{});
  finished_report finished;
  if (rows.empty())
    finished.missing =
        has_filter_ ? "nothing passes the filter" : "the capture holds no kernels, copies or fills";
  finished.notes = kernel_notes();
  add_notes(finished, inferred_notes(kernels_.inferred().any() || memory_.any_inferred()));
  if (with_calls && trace_.calls() == captured_calls::none)
    finished.notes.emplace_back("no CUDA API calls were recorded; --trace=cuda-api does");
  if (with_calls && trace_.calls() == captured_calls::blocking)
    finished.notes.emplace_back(blocking_calls_only);
  finished.table = with_calls
                       ? report::work_table("cuda_api_gpu_sum", "CUDA Summary (API/Kernels/MemOps)",
                                            std::move(rows))
                       : report::work_table("cuda_gpu_sum", "CUDA GPU Summary (Kernels/MemOps)",
                                            std::move(rows));
  return finished;
}

finished_report trace_pass::api_report() {
  auto const has_rows = trace_.file().row_count<api_record>() != 0;
  auto const* reason = "the capture holds no CUDA API calls; record them with --trace=cuda-api";
  if (trace_.calls() == captured_calls::blocking)
    reason =
        "no call that blocks was made while recording, and no others were recorded; "
        "--trace=cuda-api records all";
  if (has_rows) reason = "no CUDA API call passes the filter";
  auto finished = table_or(reason, api_.rows(trace_.text()), report::api_table);
  if (has_rows && trace_.calls() == captured_calls::blocking)
    finished.notes.emplace_back(blocking_calls_only);
  return finished;
}

finished_report trace_pass::launch_report(chosen_report const& report) {
  auto& launches = launches_.at(report.names);
  finished_report finished{
      report::launch_table(launches.rows(), trace_.labels(report.names), trace_.process_id()),
      {},
      {}};
  if (launches.matched() + launches.unrecorded() == 0) {
    finished.missing = has_filter_            ? "no kernel passes the filter"
                       : launches.has_calls() ? "no kernel has a recorded launching call"
                                              : "the capture holds no CUDA API calls to follow "
                                                "kernels from; record them with --trace=cuda-api";
    return finished;
  }
  if (launches.unrecorded() > 0)
    finished.notes.push_back(
        "of " + counted(launches.unrecorded(), "kernels") +
        " the launching call was not recorded: A is 0, and Q and T begin where "
        "the call was entered; --trace=cuda-api records calls");
  if (launches.without_call() > 0)
    finished.notes.push_back(readable_count(launches.without_call()) +
                             " kernels whose launching call was not recorded are left out");
  return finished;
}

finished_report trace_pass::trace_report(chosen_report const& report) {
  finished_report finished{report::trace_table(gpu_, {trace_.shapes(), &trace_.labels(report.names),
                                                      trace_.device_names(), trace_.origin()}),
                           {},
                           {}};
  if (gpu_.size() == 0)
    finished.missing =
        has_filter_ ? "no GPU operation passes the filter" : "the capture holds no GPU operations";
  return finished;
}

finished_report trace_pass::metric_report(chosen_report const& report) {
  auto const& metrics = counters_->metrics();
  auto const by_range = report.kind == report_kind::nvtx_metrics_sum;
  auto rows = by_range
                  ? metrics_by_range(metrics, counters_->times(), counters_->ranges())
                  : metrics_by_kernel(metrics, counters_->times(), trace_.labels(report.names));
  finished_report finished;
  if (!counters_->has_counters())
    finished.missing = "the capture " + trace_.without_counters();
  else if (rows.empty() && !counters_->samples_not_used().empty())
    finished.missing = "samples in time are not used: " + counters_->samples_not_used();
  else if (rows.empty())
    finished.missing = has_filter_ ? "nothing passes the filter"
                       : by_range  ? "no kernel with counters was launched inside NVTX ranges"
                                   : "no sample of the counters holds for a kernel alone";
  finished.notes = sampling_notes(*counters_);
  auto const& exact = counters_->exact();
  if (auto const left_out = exact.discarded().all(); left_out > 0)
    finished.notes.push_back(
        readable_count(left_out) + " of " + readable_count(exact.samples()) +
        " samples are left out: other work ran beside them, or their kernel was not recorded");
  finished.table = by_range ? report::range_metric_table(std::move(rows), trace_.text())
                            : report::kernel_metric_table(std::move(rows));
  return finished;
}

finished_report trace_pass::range_report(chosen_report const& report) {
  auto const& tree = trace_.ranges();
  range_filter keeps;
  if (has_filter_)
    keeps = [this, &tree](std::uint32_t range) { return wanted_.keeps_range(tree, range); };

  finished_report finished;
  bool is_empty = true, is_inferred = false;
  if (report.kind == report_kind::nvtx_sum) {
    auto const rows = ranges_by_name(tree, keeps);
    is_empty = rows.empty();
    finished.table = report::range_table(rows, trace_.text());
  } else if (report.kind == report_kind::nvtx_pushpop_sum ||
             report.kind == report_kind::nvtx_startend_sum) {
    auto const style = report.kind == report_kind::nvtx_pushpop_sum ? range_style::push_pop
                                                                    : range_style::start_end;
    auto const rows = ranges_by_name(tree, [&](std::uint32_t range) {
      return tree[range].style == style && (!keeps || keeps(range));
    });
    is_empty = rows.empty();
    finished.table = report::range_style_table(rows, style, trace_.text());
    if (is_empty && !has_filter_ && !tree.empty()) {
      finished.missing = "the capture holds no ranges of this kind";
      return finished;
    }
  } else if (report.kind == report_kind::nvtx_pushpop_trace) {
    for (std::uint32_t i = 0; i < tree.size() && is_empty; ++i)
      is_empty = tree[i].style != range_style::push_pop || (keeps && !keeps(i));
    if (is_empty && !has_filter_ && !tree.empty()) {
      finished.missing = "the capture holds no ranges of this kind";
      return finished;
    }
    finished.table = report::range_trace_table(
        tree, keeps,
        {trace_.text(), trace_.process_id(),
         [this](thread_index thread) { return trace_.os_thread(thread); }, trace_.origin()});
  } else if (report.kind == report_kind::nvtx_gpu_proj_sum) {
    auto const rows = projection_->rows(keeps);
    is_empty = rows.empty();
    finished.table = report::projection_table(rows, trace_.text());
  } else {
    auto& kernels = range_kernels_.at(report.names);
    auto const rows =
        kernels.rows([this](range_key const& key) { return range_name(key, trace_.text()); });
    is_empty = rows.empty();
    is_inferred = kernels.any_inferred();
    finished.table = report::range_kernel_table(
        rows, trace_.text(), trace_.labels(report.names), trace_.process_id(),
        [this](thread_index thread) { return trace_.os_thread(thread); });
  }
  if (tree.empty())
    finished.missing = "the capture holds no NVTX ranges";
  else if (is_empty)
    finished.missing =
        has_filter_ ? "nothing passes the filter" : "no GPU work was launched inside NVTX ranges";
  else
    finished.notes = range_notes();
  if (!is_empty) add_notes(finished, inferred_notes(is_inferred));
  return finished;
}

std::vector<std::string> trace_pass::range_notes() const {
  std::vector<std::string> notes;
  if (auto const open = trace_.ranges().still_open(); open > 0)
    notes.push_back(readable_count(open) +
                    (open == 1 ? " range was still open when the capture ended; it ends there"
                               : " ranges were still open when the capture ended; they end there"));
  if (!projection_ && range_kernels_.empty()) return notes;
  if (auto line = outside_note(); !line.empty()) notes.push_back(std::move(line));
  if (!range_kernels_.empty())
    for (auto& line : slowed_notes()) notes.push_back(std::move(line));
  if (auto const left_out = trace_.open().not_followed(); left_out > 0)
    notes.push_back(
        readable_count(left_out) +
        " start/end ranges began while too many others were open; their GPU work is not counted");
  return notes;
}

std::vector<std::string> trace_pass::slowed_notes() const {
  if (substituted_ == 0) return {};
  return {counted(substituted_, "launches") +
          " slowed down by counter readings: these tables have the mean of the kernel's other "
          "launches instead, cuda_gpu_trace has the measured times"};
}

std::string trace_pass::outside_note() const {
  if (!outside_ || outside_->kernels() == 0) return {};
  constexpr std::size_t max_threads = 4;
  char share[16];
  std::snprintf(share, sizeof share, "%.1f%%", 100 * outside_->share());
  auto line = std::string(share) + " of the kernel time (" +
              counted(outside_->kernels(), "kernels") + ") was launched outside any range";
  auto const threads = outside_->threads();
  for (std::size_t i = 0; i < std::min(threads.size(), max_threads); ++i) {
    auto const id = trace_.os_thread(threads[i]);
    line += (i == 0 ? ", by thread " : ", ") + (id != 0 ? std::to_string(id) : "unknown");
  }
  if (threads.size() > max_threads)
    line += " and " + readable_count(threads.size() - max_threads) + " more";
  return line;
}

std::vector<std::string> trace_pass::kernel_notes() const {
  auto notes = graph_notes();
  for (auto& line : slowed_notes()) notes.push_back(std::move(line));
  return notes;
}

std::vector<std::string> trace_pass::inferred_notes(bool any) {
  if (!any) return {};
  return {
      "Inferred: the share of Total Time of launches of graphs that were not timed and have the "
      "times of others; Total Error: one standard error that this gives Total Time, empty if only "
      "one launch was timed (--cuda-graph-trace=node times all)"};
}

std::vector<std::string> trace_pass::graph_notes() const {
  if (graphs_ == 0) return {};
  return {counted(graphs_, "launches of whole CUDA graphs") + ", " +
          readable_time(static_cast<double>(graph_ns_)) +
          " on the GPU, not split into kernels here; --cuda-graph-trace=node does"};
}

}  // namespace gpuprof::host::command
