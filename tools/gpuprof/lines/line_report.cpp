// SPDX-License-Identifier: Apache-2.0
#include "lines/line_report.hpp"

#include "base/readable.hpp"
#include "host/report/owned_rows.hpp"
#include "host/report/roofline_report.hpp"
#include "roofline_of_capture.hpp"
#include "texts.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

/// A row with what its kernels achieved.
struct line_row {
  source_group group;
  inferred_time inferred;  // of its GPU time
  std::optional<roofline_row> roof;
  std::vector<std::string> texts;  // of the columns of the roofline
};

/// Removes the figures that are known for too little of the GPU time, which includes copies.
void keep_known(roofline_row& roof, double copy_ns) {
  auto const is_known = [&](double known_ns) {
    return known_ns >= least_known_of_utilization * (roof.total_ns + copy_ns);
  };
  if (!is_known(roof.known.dram * roof.total_ns)) roof.dram_rate.reset();
  if (!is_known(roof.known_share * roof.total_ns)) {
    roof.total_flops.reset();
    roof.flops_are_limit = false;
    roof.peak_flops.reset();  // no utilization either
  }
  if (is_known(roof.roof_known_ns)) return;
  roof.of_roof.reset();
  roof.bound = {};
}

struct line_column {
  text::column of;
  std::function<text::cell(line_row const&)> cell;
};

/// For readers: as in the table of gpuprof roofline.
struct shown_figure {
  char const* name;
  bool is_number;
  int leave_out;
};
constexpr shown_figure shown_figures[] = {{"TFLOP/s", true, 6},
                                          {"Bound by", false, 3},
                                          {"Of roof (%)", true, 7},
                                          {"MFU (%)", true, 6},
                                          {"HFU (%)", true, 3}};
/// For programs: as in its csv.
constexpr std::string_view stored_figures[] = {
    "flops", "flops_are_upper_limit", "bound_by", "of_roof", "mfu", "hfu"};

void add_roofline_columns(std::vector<line_column>& to, std::vector<line_row>& rows,
                          bool for_programs) {
  using text::column_kind;
  auto const has_bytes = [](line_row const& row) { return row.roof && row.roof->dram_rate; };
  if (for_programs || std::ranges::any_of(rows, has_bytes))
    to.push_back({for_programs ? text::column{"dram_bytes", column_kind::number}
                               : text::column{"DRAM", column_kind::size, 3},
                  [has_bytes](line_row const& row) {
                    return has_bytes(row) ? text::cell(row.roof->dram_bytes) : text::cell();
                  }});
  if (for_programs) {
    for (auto& field : report::roofline_fields(report::roofline_lines::lines))
      if (std::ranges::find(stored_figures, field.column) != std::end(stored_figures))
        to.push_back({{field.column, field.kind},
                      [get = field.get,
                       kept = std::make_shared<std::deque<std::string>>()](line_row const& row) {
                        auto const keep = [&](std::string text) -> std::string_view {
                          return kept->emplace_back(std::move(text));
                        };
                        return row.roof ? report::cell_of(get(*row.roof), keep) : text::cell();
                      }});
    return;
  }
  for (std::size_t i = 0; i < std::size(shown_figures); ++i) {
    auto const& figure = shown_figures[i];
    bool is_used = false;
    for (auto& row : rows) {
      row.texts.push_back(row.roof ? report::roofline_text(*row.roof, figure.name) : "");
      is_used = is_used || !row.texts.back().empty();
    }
    if (!is_used) continue;
    to.push_back({{figure.name, figure.is_number ? column_kind::number : column_kind::text,
                   figure.leave_out},
                  [i](line_row const& row) { return text::cell(std::string_view(row.texts[i])); }});
  }
}

std::vector<line_column> columns_for(std::vector<line_row>& rows, line_options const& options,
                                     stack_sum const& all, bool has_rooflines) {
  using text::column_kind;
  auto const time_kind = options.for_programs ? column_kind::mean_time : column_kind::rough_time;
  std::vector<line_column> columns;
  auto const number = [&](text::column column, std::function<double(line_row const&)> value) {
    columns.push_back({std::move(column), [value = std::move(value)](line_row const& row) {
                         return text::number_cell(value(row));
                       }});
  };
  auto const sum = [&](text::column column, double stack_sum::*of) {
    number(std::move(column), [of](line_row const& row) { return row.group.own.*of; });
  };
  number({"Share", column_kind::share, 6}, [gpu_ns = all.gpu_ns](line_row const& row) {
    return gpu_ns > 0 ? 100 * row.group.own.gpu_ns / gpu_ns : 0;
  });
  sum({"GPU Time", time_kind}, &stack_sum::gpu_ns);
  if (std::ranges::any_of(rows, [](line_row const& row) { return row.inferred.ns > 0; }))
    columns.push_back({{"GPU Time Error", time_kind, 2}, [](line_row const& row) {
                         return text::number_cell(row.inferred.error_ns);
                       }});
  number({"With Callees", time_kind, 4}, [](line_row const& row) { return row.group.total_ns; });
  sum({"Launches", column_kind::integer, 3}, &stack_sum::launches);
  sum({"Idle Behind", time_kind, 5}, &stack_sum::idle_ns);
  sum({"CUDA Waits", time_kind, 5}, &stack_sum::wait_ns);
  if (all.bytes > 0) sum({"Allocated", column_kind::size, 3}, &stack_sum::bytes);
  // No threads were sampled, or a filter selects work: looks at threads belong to none.
  if (all.cpu_ns > 0) sum({"CPU Time", time_kind, 3}, &stack_sum::cpu_ns);
  if (has_rooflines) add_roofline_columns(columns, rows, options.for_programs);
  auto const words = [&](text::column column, std::string source_place::*of) {
    columns.push_back({std::move(column), [of](line_row const& row) {
                         return text::cell(std::string_view(row.group.where.*of));
                       }});
  };
  auto const name = [](line_row const& row) {
    return text::cell(std::string_view(row.group.name));
  };
  if (options.grouping == stack_grouping::module) {
    columns.push_back({{"Modules", column_kind::integer, 2}, [](line_row const& row) {
                         return text::cell(report::whole(row.group.modules));
                       }});
    words({"Class", column_kind::text, 2}, &source_place::type);
    columns.push_back({{"Module", column_kind::text, text::never_left_out}, name});
    return columns;
  }
  columns.push_back({{"Where", column_kind::text, text::never_left_out}, name});
  words({"Function", column_kind::text, 2}, &source_place::function);
  words({"File", column_kind::text, 1}, &source_place::file);
  if (options.for_programs &&
      std::ranges::any_of(rows, [](line_row const& row) { return row.group.is_native; }))
    columns.push_back({{"native", column_kind::integer}, [](line_row const& row) {
                         return text::cell(report::whole(row.group.is_native ? 1 : 0));
                       }});
  if (options.grouping == stack_grouping::line)
    words({"Source", column_kind::text}, &source_place::source);
  return columns;
}

text::table table_for(std::vector<line_row> rows, std::vector<line_column> columns,
                      stack_grouping grouping) {
  auto const word = std::string(word_of(grouping));
  text::table made{"py_" + word + "_sum", "GPU work of the program by " + word, {}, {}};
  for (auto const& column : columns) made.columns.push_back(column.of);
  auto const kept = std::make_shared<std::vector<line_row> const>(std::move(rows));
  made.each_row =
      [kept, columns = std::move(columns)](std::function<void(text::row const&)> const& take) {
        text::row cells;
        for (auto const& row : *kept) {
          cells.clear();
          for (auto const& column : columns) cells.push_back(column.cell(row));
          take(cells);
        }
      };
  return made;
}

/// Adds what the kernels of each row achieved. Returns false if the capture does not tell it.
bool add_rooflines(std::vector<line_row>& rows, trace_contents& trace, selection const& wanted,
                   stack_grouping grouping) {
  roofline_reading read(trace, std::nullopt, range_scope::process,
                        wanted.is_everything() ? nullptr : &wanted);
  find_peaks(trace, read);
  read.look_at_stacks(credits_forward(grouping));
  read_alone(trace, read, false);
  if (!read.has_counters()) return false;
  roofline const roofs(read.metrics(), read.times(), read.devices(), trace.shapes(), read.codes());
  for (auto& row : rows) {
    row.roof = roofline_of(row.group, read, roofs);
    if (row.roof) keep_known(*row.roof, row.group.own.copy_ns);
  }
  return true;
}

/// Says how to look into a line that launches nearly everything, such as one that calls a library's
/// trainer. Empty: no line does.
std::string note_of_one_line(std::vector<line_row> const& rows, double all_ns,
                             line_options const& options) {
  constexpr double nearly_all = 0.8;
  if (options.grouping != stack_grouping::line || options.whole_stacks) return {};
  for (auto const& row : rows)
    if (row.group.own.gpu_ns > nearly_all * all_ns)
      return "one line has " + percent_of(row.group.own.gpu_ns / all_ns) +
             " of the GPU time: --by module, --by function --all-code or, if it was recorded with "
             "--pytorch ops, --by op show what it consists of";
  return {};
}

}  // namespace

finished_report line_report(trace_contents& trace, selection const& wanted, std::string const& path,
                            line_options const& options) {
  finished_report finished;
  finished.missing = without_stacks(trace, path);
  if (!finished.missing.empty()) return finished;
  auto const& stacks = trace.stacks();
  auto const is_native = [](stack_record const& one) {
    return one.is_native() || raw(one.stack) == 0;
  };
  if (options.python_only && std::ranges::all_of(stacks, is_native)) {
    finished.missing = path +
                       " holds no Python stacks. They are recorded in programs that CPython 3.11 "
                       "to 3.15 runs, unless with --python-backtrace none";
    return finished;
  }
  auto const times = read_source_times(trace, wanted, options.grouping, options.python_only);
  std::vector<line_row> rows;
  for (auto& group : group_by_source(times, trace, options)) {
    auto const inferred = times.inferred(group.stacks);
    rows.push_back({std::move(group), inferred, std::nullopt, {}});
  }
  auto const has_rooflines = add_rooflines(rows, trace, wanted, options.grouping);
  if (auto note = note_of_one_line(rows, times.all().gpu_ns, options); !note.empty())
    finished.notes.push_back(std::move(note));
  auto columns = columns_for(rows, options, times.all(), has_rooflines);
  finished.table = table_for(std::move(rows), std::move(columns), options.grouping);
  if (!has_rooflines)
    finished.notes.push_back("no bytes, FLOP and shares of the roof: the capture " +
                             trace.without_counters());
  if (times.recorded_share() <= 0)
    finished.notes.push_back(
        "no launch has a stack; --cudabacktrace all records those of programs in C and C++");
  else if (times.recorded_share() < 0.9995)
    finished.notes.push_back("the stack of " + percent_of(times.recorded_share()) +
                             " of the launches was recorded; the others are spread over the stacks "
                             "of launches of the same kernels");
  return finished;
}

}  // namespace gpuprof::host::command
