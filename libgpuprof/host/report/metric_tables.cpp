// SPDX-License-Identifier: Apache-2.0
#include "host/report/metric_tables.hpp"

#include "host/report/owned_rows.hpp"
#include "host/report/summary_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

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

}  // namespace gpuprof::host::report
