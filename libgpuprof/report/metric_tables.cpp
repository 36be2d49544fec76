#include "report/metric_tables.hpp"

#include "report/summary_tables.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace gpuprof::report {
namespace {

using enum column_kind;

std::int64_t whole(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value);
}

/// Nine digits: bytes up to a gigabyte are exact, and no more is counted the same way twice.
double readable(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return std::strtod(text, nullptr);
}

/// Equal values whose mean was rounded have none.
double spread(metric_row const& r) {
  return r.deviation < 1e-9 * std::abs(r.average) ? 0 : r.deviation;
}

void append_figures(row& cells, metric_row const& r) {
  cells.insert(cells.end(),
               {whole(r.launches), whole(r.samples), readable(r.average), readable(spread(r))});
  cells.push_back(r.total ? cell(readable(*r.total)) : cell());
  cells.emplace_back(std::string_view(r.metric));
}

}  // namespace

table kernel_metric_table(std::vector<metric_row> rows) {
  auto const kept = std::make_shared<std::vector<metric_row>>(std::move(rows));
  return {"gpu_metrics_sum",
          "GPU Metrics Summary",
          {{"Launches", integer},
           {"Samples", integer},
           {"Avg", amount},
           {"StdDev", amount},
           {"Total", amount},
           {"Metric"},
           {"Name"}},
          [kept](std::function<void(row const&)> const& take) {
            for (auto const& r : *kept) {
              row cells;
              append_figures(cells, r);
              cells.emplace_back(std::string_view(r.name));
              take(cells);
            }
          }};
}

table range_metric_table(std::vector<metric_row> rows, text_of_name const& text) {
  for (auto& r : rows) r.name = range_name(r.range, text);
  auto const kept = std::make_shared<std::vector<metric_row>>(std::move(rows));
  return {"nvtx_metrics_sum",
          "NVTX Range Metrics Summary",
          {{"NVTX Range"},
           {"Style"},
           {"NVTX Inst", integer},
           {"Launches", integer},
           {"Samples", integer},
           {"Avg", amount},
           {"StdDev", amount},
           {"Total", amount},
           {"Metric"}},
          [kept](std::function<void(row const&)> const& take) {
            for (auto const& r : *kept) {
              row cells = {std::string_view(r.name), style_name(r.range.style), whole(r.instances)};
              append_figures(cells, r);
              take(cells);
            }
          }};
}

}  // namespace gpuprof::report
