// SPDX-License-Identifier: Apache-2.0
#include "host/report/rank_tables.hpp"

#include "host/analysis/ranks/rank_spread.hpp"
#include "host/report/owned_rows.hpp"

#include <algorithm>
#include <numeric>

namespace gpuprof::host::report {
namespace {

using enum text::column_kind;

std::uint64_t total_of(line_over_ranks const& line) {
  return std::accumulate(line.parts.begin(), line.parts.end(), std::uint64_t{0},
                         [](auto sum, rank_part const& part) { return sum + part.ns; });
}

std::uint64_t count_of(line_over_ranks const& line) {
  return std::accumulate(line.parts.begin(), line.parts.end(), std::uint64_t{0},
                         [](auto sum, rank_part const& part) { return sum + part.count; });
}

/// Returns the mean of one record on each rank.
rank_spread means_of(line_over_ranks const& line, std::uint64_t rank_part::*what) {
  std::vector<rank_value> means;
  for (auto const& part : line.parts)
    if (part.count > 0)
      means.push_back(
          {part.rank, static_cast<double>(part.*what) / static_cast<double>(part.count)});
  return spread_of(means);
}

std::uint64_t sort_by_total(std::vector<line_over_ranks>& lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](auto const& a, auto const& b) { return total_of(a) > total_of(b); });
  return std::accumulate(lines.begin(), lines.end(), std::uint64_t{0},
                         [](auto sum, auto const& line) { return sum + total_of(line); });
}

/// Share, total, count, number of ranks, then the spread of the ranks' means.
text::row cells_of(line_over_ranks const& line, std::uint64_t all, owned_rows& out,
                   std::span<std::string const> labels) {
  auto const means = means_of(line, &rank_part::ns);
  text::row cells = {percent(total_of(line), all), whole(total_of(line)), whole(count_of(line)),
                     whole(means.ranks)};
  append_cells(cells, {means.minimum, means.median, means.maximum, 100 * means.share(),
                       out.keep(labels[means.greatest])});
  return cells;
}

std::vector<text::column> columns_of_means() {
  return {{"Time", share},           {"Total Time", text::column_kind::time, 2},
          {"Instances", integer, 3}, {"Ranks", integer, 1},
          {"Avg Min", mean_time, 5}, {"Avg Med", mean_time, 6},
          {"Avg Max", mean_time},    {"Spread", share},
          {"Slowest", text, 7}};
}

}  // namespace

text::table ranks_table(std::vector<rank_line> const& ranks) {
  owned_rows out;
  for (auto const& r : ranks) {
    auto& cells = out.rows.emplace_back();
    auto const possible = r.window_ns * std::max<std::size_t>(r.devices, 1);
    append_cells(cells, {out.keep(r.rank), whole(r.busy_ns),
                         possible > 0 ? text::cell(percent(r.busy_ns, possible)) : text::cell()});
    append_cells(cells,
                 {whole(r.work_ns), whole(r.collective_ns), whole(r.kernels),
                  r.launches ? text::cell(whole(*r.launches)) : text::cell(), whole(r.window_ns),
                  whole(r.process), out.keep(r.host), out.keep(r.gpus), out.keep(r.capture)});
  }
  return table_of("ranks_sum", "Rank Summary",
                  {{"Rank", text},
                   {"GPU Busy", text::column_kind::time},
                   {"Busy", share},
                   {"Work Time", text::column_kind::time},
                   {"Collective Time", text::column_kind::time},
                   {"Kernels", integer, 4},
                   {"Launches", integer, 3},
                   {"Window", text::column_kind::time, 5},
                   {"PID", integer, 1},
                   {"Host", text, 6},
                   {"GPU", text, 2},
                   {"Capture", text}},
                  std::move(out));
}

text::table rank_range_table(std::vector<line_over_ranks> lines,
                             std::span<std::string const> labels) {
  auto const all = sort_by_total(lines);
  owned_rows out;
  for (auto const& line : lines) {
    auto cells = cells_of(line, all, out, labels);
    auto const work = means_of(line, &rank_part::work_ns);
    if (work.maximum > 0)
      append_cells(cells,
                   {work.minimum, work.median, work.maximum, out.keep(labels[work.greatest])});
    else
      append_cells(cells, {text::cell(), text::cell(), text::cell(), text::cell()});
    append_cells(cells, {out.keep(line.style), out.keep(line.name)});
    out.rows.push_back(std::move(cells));
  }
  auto columns = columns_of_means();
  columns.insert(columns.end(), {{"Work Min", mean_time, 8},
                                 {"Work Med", mean_time, 9},
                                 {"Work Max", mean_time},
                                 {"Most Work", text},
                                 {"Style", text, 4},
                                 {"Range", text}});
  return table_of("ranks_range_sum", "NVTX Ranges over Ranks", std::move(columns), std::move(out));
}

text::table rank_kernel_table(std::vector<line_over_ranks> lines,
                              std::span<std::string const> labels) {
  auto const all = sort_by_total(lines);
  owned_rows out;
  for (auto const& line : lines) {
    auto cells = cells_of(line, all, out, labels);
    cells.emplace_back(out.keep(line.name));
    out.rows.push_back(std::move(cells));
  }
  auto columns = columns_of_means();
  columns.push_back({"Name", text});
  return table_of("ranks_kern_sum", "Kernels over Ranks", std::move(columns), std::move(out));
}

text::table rank_collective_table(std::vector<collective_row> const& rows,
                                  std::span<std::string const> labels) {
  owned_rows out;
  for (auto const& r : rows) {
    text::row cells = {whole(r.wait_ns), percent(r.wait_ns, r.kernel_ns), whole(r.matched),
                       whole(r.unmatched), whole(r.ranks)};
    if (r.matched > 0)
      append_cells(cells, {r.start_spread.average, r.start_spread.median,
                           whole(r.start_spread.maximum), out.keep(labels[r.last]),
                           percent(r.times_last, r.matched), out.keep(labels[r.waits_longest])});
    else
      append_cells(cells, {text::cell(), text::cell(), text::cell(), text::cell(), text::cell(),
                           text::cell()});
    cells.emplace_back(out.keep(r.name));
    out.rows.push_back(std::move(cells));
  }
  return table_of("ranks_collective_sum", "Collectives over Ranks",
                  {{"Wait Time", text::column_kind::time},
                   {"Wait", share},
                   {"Matched", integer, 4},
                   {"Unmatched", integer, 3},
                   {"Ranks", integer, 1},
                   {"Start Spread Avg", mean_time},
                   {"Start Spread Med", mean_time, 5},
                   {"Start Spread Max", text::column_kind::time, 6},
                   {"Last", text},
                   {"Times Last", share},
                   {"Waits Longest", text, 2},
                   {"Name", text}},
                  std::move(out));
}

}  // namespace gpuprof::host::report
