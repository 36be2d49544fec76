// SPDX-License-Identifier: Apache-2.0
#include "lines/line_report.hpp"

#include "base/readable.hpp"
#include "host/reading/time_merge.hpp"
#include "host/report/owned_rows.hpp"
#include "lines/source_texts.hpp"
#include "texts.hpp"

#include <algorithm>

namespace gpuprof::host::command {
namespace {

using report::append_cells;
using report::owned_rows;

struct reading {
  trace_contents& trace;
  selection const& wanted;
  stack_times& times;
  bool has_filter;

  template <class Work>
  void operator()(Work const& work) {
    if (!has_filter || wanted.keeps(work)) times.add(work);
  }
  void operator()(api_record const& call) {
    auto const thread = trace.thread_of(call.os_thread);
    if (!has_filter || wanted.keeps(call, thread)) times.add(call, thread);
  }
};

std::function<bool(stack_record const&)> own_files(trace_contents& trace,
                                                   line_options const& options) {
  if (options.whole_stacks) return [](stack_record const&) { return true; };
  return [&trace, folders = options.own](stack_record const& frame) {
    auto const file = trace.text()(frame.file);
    if (folders.empty()) return is_own_by_default(file);
    return std::any_of(folders.begin(), folders.end(), [&](std::string const& folder) {
      return file.starts_with(folder) &&
             (file.size() == folder.size() || folder.ends_with('/') || file[folder.size()] == '/');
    });
  };
}

std::string where(std::string_view file, stack_record const& frame, stack_grouping grouping) {
  auto text = std::string(file.substr(file.rfind('/') + 1));
  auto const line = grouping == stack_grouping::function ? frame.first_line : frame.line;
  if (grouping != stack_grouping::file && line != 0) text += ':' + std::to_string(line);
  return text;
}

std::string_view word_of(stack_grouping grouping) {
  return grouping == stack_grouping::line       ? "line"
         : grouping == stack_grouping::function ? "function"
                                                : "file";
}

std::vector<text::column> columns_for(stack_grouping grouping) {
  using text::column_kind;
  std::vector<text::column> columns{{"Share", column_kind::share, 6},
                                    {"GPU Time", column_kind::mean_time},
                                    {"With Callees", column_kind::mean_time, 4},
                                    {"Launches", column_kind::decimal, 3},
                                    {"Idle Behind", column_kind::mean_time, 5},
                                    {"CUDA Waits", column_kind::mean_time, 5},
                                    {"Where", column_kind::text, text::never_left_out},
                                    {"Function", column_kind::text, 2},
                                    {"File", column_kind::text, 1}};
  if (grouping == stack_grouping::line) columns.push_back({"Source", column_kind::text});
  return columns;
}

owned_rows rows_of(std::vector<stack_group> const& groups, stack_times const& times,
                   trace_contents& trace, stack_grouping grouping) {
  owned_rows made;
  source_texts sources(trace.origin());
  auto const add = [&](stack_sum const& own, double total_ns, std::string_view where,
                       std::string_view function, std::string_view file, std::string_view source) {
    text::row row;
    auto const all = times.all().gpu_ns;
    append_cells(row, {all > 0 ? 100 * own.gpu_ns / all : 0, own.gpu_ns, total_ns, own.launches,
                       own.idle_ns, own.wait_ns, where, function, file});
    if (grouping == stack_grouping::line) row.emplace_back(source);
    made.rows.push_back(std::move(row));
  };
  for (auto const& group : groups) {
    auto const file = trace.text()(group.frame.file);
    add(group.own, group.total.gpu_ns, made.keep(where(file, group.frame, grouping)),
        grouping == stack_grouping::file ? std::string_view{} : trace.text()(group.frame.function),
        file,
        grouping == stack_grouping::line
            ? made.keep(sources.line(std::string(file), group.frame.line))
            : std::string_view{});
  }
  for (auto const& [thread, sum] : times.without_stack())
    add(sum, sum.gpu_ns,
        made.keep("(no Python on thread " + std::to_string(trace.os_thread(thread)) + ")"), {}, {},
        {});
  std::stable_sort(made.rows.begin(), made.rows.end(), [](text::row const& a, text::row const& b) {
    return std::get<double>(a[1]) > std::get<double>(b[1]);
  });
  return made;
}

}  // namespace

finished_report line_report(trace_contents& trace, selection const& wanted, std::string const& path,
                            line_options const& options) {
  finished_report finished;
  auto const stacks = stacks_of(trace.file());
  if (stacks.size() == 1) {
    finished.missing = path +
                       " holds no Python stacks. They are recorded in programs that CPython "
                       "3.11 to 3.15 runs, unless with --python-backtrace none";
    return finished;
  }
  stack_times times;
  for_each_in_time<kernel_record, copy_record, memset_record, graph_record, api_record>(
      trace.file(), reading{trace, wanted, times, !wanted.is_everything()});
  times.finish();
  auto const groups = group_stacks(times, stacks, options.grouping, own_files(trace, options));
  finished.table = report::table_of(
      "py_" + std::string(word_of(options.grouping)) + "_sum",
      "GPU work of the program by " + std::string(word_of(options.grouping)),
      columns_for(options.grouping), rows_of(groups, times, trace, options.grouping));
  if (times.recorded_share() < 0.9995)
    finished.notes.push_back("the stack of " + percent_of(times.recorded_share()) +
                             " of the launches was recorded; the others are spread over the stacks "
                             "of launches of the same kernels");
  return finished;
}

}  // namespace gpuprof::host::command
