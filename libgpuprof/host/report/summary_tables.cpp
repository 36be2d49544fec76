// SPDX-License-Identifier: Apache-2.0
#include "host/report/summary_tables.hpp"

#include "host/report/owned_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <numeric>

namespace gpuprof::host::report {

namespace {

using enum text::column_kind;

/// Rounds to nine digits: bytes up to a gigabyte are exact, and beyond that no count repeats
/// exactly.
double readable(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return std::strtod(text, nullptr);
}

/// Returns 0 if all values are equal and only their mean was rounded.
double spread(metric_row const& r, double of) {
  return of < 1e-9 * std::abs(r.average) ? 0 : of;
}

text::cell if_there(std::optional<double> value) {
  return value ? text::cell(readable(*value)) : text::cell();
}

void append_figures(text::row& cells, metric_row const& r) {
  cells.insert(cells.end(), {whole(r.launches), whole(r.samples), readable(r.average)});
  cells.push_back(r.deviation ? text::cell(readable(spread(r, *r.deviation))) : text::cell());
  cells.push_back(if_there(r.total));
  cells.emplace_back(std::string_view(r.metric));
}

/// If all values were counted around launches, the spread of the readings is sufficient.
bool need_sources(std::vector<metric_row> const& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](metric_row const& r) { return r.source != figure_source::exact; });
}

void append_source(text::row& cells, metric_row const& r) {
  cells.emplace_back(name_of(r.source));
  cells.emplace_back(readable(spread(r, r.error)));
  cells.emplace_back(std::string_view(r.is_shared ? "yes" : ""));
}

text::table with_sources(text::table made, bool needed) {
  if (!needed) return made;
  made.columns.push_back({"Source", {}, 8});
  made.columns.push_back({"Error", amount, 5});
  made.columns.push_back({"Shared", {}, 2});
  return made;
}

}  // namespace

text::table kernel_metric_table(std::vector<metric_row> rows) {
  auto const sources = need_sources(rows);
  auto const kept = std::make_shared<std::vector<metric_row>>(std::move(rows));
  return with_sources({"gpu_metrics_sum",
                       "GPU Metrics Summary",
                       {{"Launches", integer},
                        {"Samples", integer, 4},
                        {"Avg", amount},
                        {"StdDev", amount, 1},
                        {"Total", amount, 3},
                        {"Metric", {}, text::never_left_out},
                        {"Name", {}, text::never_left_out}},
                       [kept, sources](std::function<void(text::row const&)> const& take) {
                         for (auto const& r : *kept) {
                           text::row cells;
                           append_figures(cells, r);
                           cells.emplace_back(std::string_view(r.name));
                           if (sources) append_source(cells, r);
                           take(cells);
                         }
                       }},
                      sources);
}

text::table range_metric_table(std::vector<metric_row> rows, text_of_name const& text) {
  for (auto& r : rows)
    r.name = r.is_outside ? std::string(outside_ranges_name) : range_name(r.range, text);
  auto const sources = need_sources(rows);
  auto const kept = std::make_shared<std::vector<metric_row>>(std::move(rows));
  return with_sources({"nvtx_metrics_sum",
                       "NVTX Range Metrics Summary",
                       {{"NVTX Range", {}, text::never_left_out},
                        {"Style", {}, 2},
                        {"NVTX Inst", integer, 6},
                        {"Launches", integer, 7},
                        {"Samples", integer, 4},
                        {"Avg", amount},
                        {"StdDev", amount, 1},
                        {"Total", amount, 3},
                        {"Metric", {}, text::never_left_out}},
                       [kept, sources](std::function<void(text::row const&)> const& take) {
                         for (auto const& r : *kept) {
                           auto const style =
                               r.is_outside ? std::string_view() : style_name(r.range.style);
                           text::row cells = {std::string_view(r.name), style, whole(r.instances)};
                           append_figures(cells, r);
                           if (sources) append_source(cells, r);
                           take(cells);
                         }
                       }},
                      sources);
}

namespace {

using enum text::column_kind;

void append_spread(text::row& to, statistics const& s) {
  append_cells(to, {s.average, s.median, whole(s.minimum), whole(s.maximum), s.deviation});
}

std::vector<text::column> time_columns(std::string count,
                                       std::initializer_list<text::column> last) {
  std::vector<text::column> columns = {{"Time", text::column_kind::share},
                                       {"Total Time", text::column_kind::time},
                                       {std::move(count), integer},
                                       {"Avg", mean_time},
                                       {"Med", mean_time, 4},
                                       {"Min", text::column_kind::time, 2},
                                       {"Max", text::column_kind::time, 3},
                                       {"StdDev", mean_time, 1}};
  columns.insert(columns.end(), last);
  return columns;
}

text::row time_cells(statistics const& s, std::uint64_t grand_total) {
  text::row cells = {percent(s.total, grand_total), whole(s.total), whole(s.count)};
  append_spread(cells, s);
  return cells;
}

template <class Rows>
std::uint64_t total_of(Rows const& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::uint64_t{0},
                         [](std::uint64_t sum, auto const& r) { return sum + r.time.total; });
}

std::string geometry(extent3 const& e) {
  if (e.x == 0) return "not recorded";
  char text[40];
  std::snprintf(text, sizeof text, "%4u %4u %4u", e.x, e.y, e.z);
  return text;
}

/// The columns of sums with times that were taken from other launches, before the last ones.
template <class Row>
class inferred_columns {
 public:
  explicit inferred_columns(std::vector<Row> const& rows)
      : any_(std::ranges::any_of(rows, [](auto const& r) { return r.inferred.has_value(); })) {}

  void append_to(std::vector<text::column>& columns) const {
    if (!any_) return;
    columns.push_back({"Inferred", text::column_kind::share, 6});
    columns.push_back({"Total Error", text::column_kind::rough_time, 7});
  }
  void append_to(text::row& cells, Row const& r) const {
    if (!any_) return;
    auto const all = static_cast<double>(r.time.total);
    auto const inferred = r.inferred.value_or(inferred_time());
    cells.emplace_back(all > 0 ? 100 * std::min(inferred.ns / all, 1.0) : 0.0);
    cells.push_back(inferred.error_ns ? text::cell(*inferred.error_ns) : text::cell());
  }

 private:
  bool any_;
};

/// Makes a table of GPU work: `last` are the columns after the times, `append_last` their cells.
template <class Row, class AppendLast>
text::table work_times(char const* name, char const* title, std::vector<Row> rows,
                       std::string count, std::initializer_list<text::column> last,
                       AppendLast append_last) {
  owned_rows out;
  auto const total = total_of(rows);
  inferred_columns const inferred(rows);
  auto columns = time_columns(std::move(count), {});
  inferred.append_to(columns);
  columns.insert(columns.end(), last);
  for (auto& r : rows) {
    auto& cells = out.rows.emplace_back(time_cells(r.time, total));
    inferred.append_to(cells, r);
    append_last(cells, r, out);
  }
  return table_of(name, title, std::move(columns), std::move(out));
}

}  // namespace

text::table kernel_table(std::vector<kernel_row> rows) {
  return work_times("cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", std::move(rows), "Instances",
                    {{"Name"}}, [](text::row& cells, kernel_row& r, owned_rows& out) {
                      cells.emplace_back(out.keep(std::move(r.name)));
                    });
}

text::table kernel_geometry_table(std::vector<kernel_row> rows) {
  return work_times("cuda_gpu_kern_gb_sum", "CUDA GPU Kernel/Grid/Block Summary", std::move(rows),
                    "Instances", {{"GridXYZ"}, {"BlockXYZ"}, {"Name"}},
                    [](text::row& cells, kernel_row& r, owned_rows& out) {
                      append_cells(cells, {out.keep(geometry(r.grid)), out.keep(geometry(r.block)),
                                           out.keep(std::move(r.name))});
                    });
}

text::table memory_time_table(std::vector<memory_row> rows) {
  return work_times("cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)", std::move(rows),
                    "Count", {{"Operation"}}, [](text::row& cells, memory_row& r, owned_rows& out) {
                      cells.emplace_back(out.keep(std::move(r.operation)));
                    });
}

text::table memory_size_table(std::vector<memory_row> rows) {
  owned_rows out;
  for (auto& r : rows) {
    auto& cells = out.rows.emplace_back(text::row{whole(r.bytes.total), whole(r.bytes.count)});
    append_spread(cells, r.bytes);
    cells.emplace_back(out.keep(std::move(r.operation)));
  }
  return table_of("cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)",
                  {{"Total", size},
                   {"Count", integer},
                   {"Avg", size},
                   {"Med", size},
                   {"Min", size},
                   {"Max", size},
                   {"StdDev", size},
                   {"Operation"}},
                  std::move(out));
}

namespace {

std::string address_text(std::uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

}  // namespace

text::table migration_table(std::vector<migration_row> const& rows) {
  owned_rows out;
  for (auto const& r : rows) {
    auto const bytes = static_cast<double>(r.to_device + r.to_host);
    auto const rate = r.ns > 0 ? text::cell(bytes * 1e9 / static_cast<double>(r.ns)) : text::cell();
    out.rows.push_back(
        {out.keep(address_text(r.address)), whole(r.to_device), whole(r.to_host), rate});
  }
  return table_of("um_sum", "Unified Memory Analysis Summary",
                  {{"Virtual Address"},
                   {"HtoD Migration Size", size},
                   {"DtoH Migration Size", size},
                   {"Migration Throughput", throughput}},
                  std::move(out));
}

text::table migration_total_table(migration_totals const& totals) {
  owned_rows out;
  out.rows.push_back({whole(totals.to_device), whole(totals.to_host),
                      out.keep(address_text(totals.lowest)),
                      out.keep(address_text(totals.highest))});
  return table_of("um_total_sum", "Unified Memory Totals Summary",
                  {{"Total HtoD Migration Size", size},
                   {"Total DtoH Migration Size", size},
                   {"Minimum Virtual Address"},
                   {"Maximum Virtual Address"}},
                  std::move(out));
}

text::table api_table(std::vector<api_row> rows) {
  owned_rows out;
  auto const total = total_of(rows);
  for (auto& r : rows) {
    auto& cells = out.rows.emplace_back(time_cells(r.time, total));
    cells.emplace_back(out.keep(std::move(r.name)));
  }
  return table_of("cuda_api_sum", "CUDA API Summary", time_columns("Num Calls", {{"Name"}}),
                  std::move(out));
}

std::vector<work_row> work_of(std::vector<kernel_row> kernels, std::vector<memory_row> memory,
                              std::vector<api_row> calls) {
  std::vector<work_row> rows;
  for (auto& r : kernels) rows.push_back({"CUDA_KERNEL", r.time, std::move(r.name), r.inferred});
  for (auto& r : memory)
    rows.push_back({"MEMORY_OPER", r.time, std::move(r.operation), r.inferred});
  for (auto& r : calls) rows.push_back({"CUDA_API", r.time, std::move(r.name)});
  std::stable_sort(rows.begin(), rows.end(), [](work_row const& a, work_row const& b) {
    return a.time.total > b.time.total;
  });
  return rows;
}

text::table work_table(char const* name, char const* title, std::vector<work_row> rows) {
  return work_times(name, title, std::move(rows), "Instances", {{"Category"}, {"Operation"}},
                    [](text::row& cells, work_row& r, owned_rows& out) {
                      append_cells(cells, {r.category, out.keep(std::move(r.operation))});
                    });
}

std::string_view style_name(range_style style) noexcept {
  return style == range_style::push_pop ? "PushPop" : "StartEnd";
}

text::table range_style_table(std::vector<range_row> const& rows, range_style style,
                              text_of_name const& text) {
  owned_rows out;
  auto const total = total_of(rows);
  for (auto const& r : rows) {
    auto& cells = out.rows.emplace_back(time_cells(r.time, total));
    cells.emplace_back(out.keep(range_name(r.key, text)));
  }
  auto const is_push_pop = style == range_style::push_pop;
  return table_of(is_push_pop ? "nvtx_pushpop_sum" : "nvtx_startend_sum",
                  is_push_pop ? "NVTX Push/Pop Range Summary" : "NVTX Start/End Range Summary",
                  time_columns("Instances", {{"Range"}}), std::move(out));
}

text::table range_table(std::vector<range_row> const& rows, text_of_name const& text) {
  owned_rows out;
  auto const total = total_of(rows);
  for (auto const& r : rows) {
    auto& cells = out.rows.emplace_back(time_cells(r.time, total));
    append_cells(cells, {style_name(r.key.style), out.keep(range_name(r.key, text))});
  }
  return table_of("nvtx_sum", "NVTX Range Summary",
                  time_columns("Instances", {{"Style"}, {"Range"}}), std::move(out));
}

text::table range_kernel_table(std::vector<range_kernel_row> const& rows, text_of_name const& text,
                               kernel_labels const& labels, std::uint32_t process,
                               os_thread_of const& os_thread) {
  owned_rows out;
  inferred_columns const inferred(rows);
  std::vector<text::column> columns = {{"NVTX Range"},
                                       {"Style"},
                                       {"PID", integer},
                                       {"TID", integer},
                                       {"NVTX Inst", integer},
                                       {"Kern Inst", integer},
                                       {"Total Time", text::column_kind::time},
                                       {"Avg", mean_time},
                                       {"Med", mean_time},
                                       {"Min", text::column_kind::time},
                                       {"Max", text::column_kind::time},
                                       {"StdDev", mean_time}};
  inferred.append_to(columns);
  columns.push_back({"Kernel Name"});
  for (auto const& r : rows) {
    auto& cells = out.rows.emplace_back();
    append_cells(cells, {out.keep(range_name(r.range, text)), style_name(r.range.style),
                         whole(process), whole(os_thread(r.thread)), whole(r.range_instances),
                         whole(r.time.count), whole(r.time.total)});
    append_spread(cells, r.time);
    inferred.append_to(cells, r);
    cells.emplace_back(out.keep(labels.text(r.label)));
  }
  return table_of("nvtx_kern_sum", "NVTX Range Kernel Summary", std::move(columns), std::move(out));
}

text::table projection_table(std::vector<projection_row> const& rows, text_of_name const& text) {
  owned_rows out;
  for (auto const& r : rows) {
    auto& cells = out.rows.emplace_back();
    auto const instances = r.projected.count;
    append_cells(cells, {out.keep(range_name(r.key, text)), style_name(r.key.style),
                         whole(r.projected.total), whole(r.range_time), whole(instances)});
    append_spread(cells, r.projected);
    append_cells(cells, {whole(r.operations),
                         static_cast<double>(r.operations) / static_cast<double>(instances),
                         r.average_level, r.average_children});
  }
  return table_of("nvtx_gpu_proj_sum", "NVTX GPU Projection Summary",
                  {{"Range"},
                   {"Style"},
                   {"Total Proj Time", text::column_kind::time},
                   {"Total Range Time", text::column_kind::time},
                   {"Range Instances", integer},
                   {"Proj Avg", mean_time},
                   {"Proj Med", mean_time},
                   {"Proj Min", text::column_kind::time},
                   {"Proj Max", text::column_kind::time},
                   {"Proj StdDev", mean_time},
                   {"Total GPU Ops", integer},
                   {"Avg GPU Ops", decimal},
                   {"Avg Range Lvl", decimal},
                   {"Avg Num Child", decimal}},
                  std::move(out));
}

text::table launch_table(std::vector<launch_row> const& rows, kernel_labels const& labels,
                         std::uint32_t process) {
  std::vector<text::column> columns = {{"PID", integer},
                                       {"TID", integer},
                                       {"DevId", integer},
                                       {"Count", integer},
                                       {"QCount", integer}};
  for (std::string const part : {"T", "A", "Q", "K"}) {
    columns.push_back({part + "Avg", mean_time});
    columns.push_back({part + "Med", mean_time});
    columns.push_back({part + "Min", text::column_kind::time});
    columns.push_back({part + "Max", text::column_kind::time});
    columns.push_back({part + "StdDev", mean_time});
  }
  columns.push_back({"API Name"});
  columns.push_back({"Kernel Name"});

  owned_rows out;
  for (auto const& r : rows) {
    auto& cells = out.rows.emplace_back();
    append_cells(cells, {whole(process), whole(r.os_thread), whole(raw(r.device)),
                         whole(r.kernel.count), whole(r.queued.count)});
    append_spread(cells, r.total);
    append_spread(cells, r.api_time);
    if (r.queued.count > 0)
      append_spread(cells, r.queued);
    else
      append_cells(cells, {text::cell{}, text::cell{}, text::cell{}, text::cell{}, text::cell{}});
    append_spread(cells, r.kernel);
    append_cells(cells, {out.keep(r.api), out.keep(labels.text(r.label))});
  }
  return table_of("cuda_kern_exec_sum", "CUDA Kernel Launch & Exec Time Summary",
                  std::move(columns), std::move(out));
}

text::table collective_rate_table(std::vector<collective_rate_row> rows) {
  owned_rows out;
  auto const total = total_of(rows);
  auto const known = [](std::uint64_t value) {
    return value != 0 ? text::cell{whole(value)} : text::cell{};
  };
  auto const rate = [](std::optional<double> value) {
    return value ? text::cell{*value} : text::cell{};
  };
  for (auto& r : rows) {
    auto& cells = out.rows.emplace_back(time_cells(r.time, total));
    append_cells(cells,
                 {known(r.arguments.bytes), known(r.arguments.group_size), rate(r.message_rate),
                  rate(r.bus_rate), out.keep(std::move(r.arguments.type)),
                  out.keep(std::move(r.arguments.group)), out.keep(std::move(r.arguments.name))});
  }
  return table_of("nccl_sum", "NCCL Collectives Summary",
                  time_columns("Instances", {{"Message", size},
                                             {"Group Size", integer},
                                             {"Message Rate", throughput},
                                             {"Bus Rate", throughput},
                                             {"Type", text, 5},
                                             {"Group", text, 6},
                                             {"Collective"}}),
                  std::move(out));
}

}  // namespace gpuprof::host::report
