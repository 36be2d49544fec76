// SPDX-License-Identifier: Apache-2.0
#include "lines/line_report.hpp"

#include "base/readable.hpp"
#include "host/analysis/module_tree.hpp"
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
  void operator()(thread_sample_record const& row) {
    if (!has_filter) times.add(row);
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
  switch (grouping) {
    case stack_grouping::function:
      return "function";
    case stack_grouping::file:
      return "file";
    case stack_grouping::module:
      return "module";
    case stack_grouping::line:
      break;
  }
  return "line";
}

std::vector<text::column> columns_for(stack_grouping grouping, bool with_cpu_time) {
  using text::column_kind;
  std::vector<text::column> columns{{"Share", column_kind::share, 6},
                                    {"GPU Time", column_kind::mean_time},
                                    {"With Callees", column_kind::mean_time, 4},
                                    {"Launches", column_kind::decimal, 3},
                                    {"Idle Behind", column_kind::mean_time, 5},
                                    {"CUDA Waits", column_kind::mean_time, 5}};
  if (with_cpu_time) columns.push_back({"CPU Time", column_kind::mean_time, 3});
  if (grouping == stack_grouping::module) {
    columns.push_back({"Modules", column_kind::integer, 2});
    columns.push_back({"Class", column_kind::text, 2});
    columns.push_back({"Module", column_kind::text, text::never_left_out});
    return columns;
  }
  columns.push_back({"Where", column_kind::text, text::never_left_out});
  columns.push_back({"Function", column_kind::text, 2});
  columns.push_back({"File", column_kind::text, 1});
  if (grouping == stack_grouping::line) columns.push_back({"Source", column_kind::text});
  return columns;
}

/// False if threads were not sampled, or a filter selects work: looks at threads belong to none.
bool has_cpu_time(stack_times const& times) noexcept {
  return times.all().cpu_ns > 0;
}

text::row figures(stack_sum const& own, double total_ns, stack_times const& times) {
  text::row row;
  auto const all = times.all().gpu_ns;
  append_cells(row, {all > 0 ? 100 * own.gpu_ns / all : 0, own.gpu_ns, total_ns, own.launches,
                     own.idle_ns, own.wait_ns});
  if (has_cpu_time(times)) row.emplace_back(own.cpu_ns);
  return row;
}

owned_rows rows_of_modules(std::vector<module_group> const& groups, stack_times const& times) {
  owned_rows made;
  for (auto const& group : groups) {
    auto row = figures(group.own, group.total.gpu_ns, times);
    auto const path = group.modules == 0 ? std::string("(no module)") : group.path;
    append_cells(row, {report::whole(group.modules), made.keep(group.type), made.keep(path)});
    made.rows.push_back(std::move(row));
  }
  return made;
}

void sort_by_gpu_time(owned_rows& made) {
  std::stable_sort(made.rows.begin(), made.rows.end(), [](text::row const& a, text::row const& b) {
    return std::get<double>(a[1]) > std::get<double>(b[1]);
  });
}

owned_rows rows_of(std::vector<stack_group> const& groups, stack_times const& times,
                   trace_contents& trace, stack_grouping grouping) {
  owned_rows made;
  source_texts sources(trace);
  auto const add = [&](stack_sum const& own, double total_ns, std::string_view where,
                       std::string_view function, std::string_view file, std::string_view source) {
    auto row = figures(own, total_ns, times);
    append_cells(row, {where, function, file});
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
  return made;
}

owned_rows rows_for(stack_times const& times, std::vector<stack_record> const& stacks,
                    trace_contents& trace, line_options const& options) {
  if (options.grouping != stack_grouping::module)
    return rows_of(group_stacks(times, stacks, options.grouping, own_files(trace, options)), times,
                   trace, options.grouping);
  module_tree const tree(stacks, [&](name_id name) { return trace.text()(name); });
  return rows_of_modules(group_by_module(times, tree, !options.each_module), times);
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
  for_each_in_time<kernel_record, copy_record, memset_record, graph_record, api_record,
                   thread_sample_record>(trace.file(),
                                         reading{trace, wanted, times, !wanted.is_everything()});
  times.finish();
  auto rows = rows_for(times, stacks, trace, options);
  sort_by_gpu_time(rows);
  finished.table =
      report::table_of("py_" + std::string(word_of(options.grouping)) + "_sum",
                       "GPU work of the program by " + std::string(word_of(options.grouping)),
                       columns_for(options.grouping, has_cpu_time(times)), std::move(rows));
  if (times.recorded_share() < 0.9995)
    finished.notes.push_back("the stack of " + percent_of(times.recorded_share()) +
                             " of the launches was recorded; the others are spread over the stacks "
                             "of launches of the same kernels");
  return finished;
}

}  // namespace gpuprof::host::command
