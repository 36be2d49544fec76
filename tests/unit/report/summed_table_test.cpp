// SPDX-License-Identifier: Apache-2.0
// Reports of several ranks added up: the same figures as those of all records in one report.
#include "host/report/summed_table.hpp"

#include "host/analysis/kernel_summary.hpp"
#include "host/report/summary_tables.hpp"
#include "support/catch.hpp"

#include <cmath>

using namespace gpuprof;
using namespace gpuprof::host;
using text::cell;

namespace {

statistics statistics_of(std::vector<std::uint64_t> const& values) {
  samples all;
  for (auto const value : values) all.add(value);
  return all.summarize();
}

text::table kernels(std::vector<std::pair<std::string, std::vector<std::uint64_t>>> const& named) {
  std::vector<kernel_row> rows;
  for (auto const& [name, values] : named) rows.push_back({name, {}, {}, statistics_of(values)});
  return report::kernel_table(std::move(rows));
}

/// The cells of the first line, by the names of columns.
std::map<std::string, std::string> first_line(text::table const& table) {
  std::map<std::string, std::string> cells;
  table.each_row([&](text::row const& row) {
    REQUIRE(row.size() == table.columns.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string text;
      text::append_cell(text, row[i], table.columns[i].kind, text::time_unit::nanoseconds);
      cells.try_emplace(table.columns[i].name, text);
    }
  });
  return cells;
}

}  // namespace

TEST_CASE("lines of ranks add up to the figures of all records together") {
  std::vector<std::uint64_t> const one = {10, 20, 60}, other = {5, 100};
  report::summed_table sums;
  sums.add(kernels({{"gemm", one}, {"scale", {1}}}), 0);
  sums.add(kernels({{"gemm", other}}), 2);
  auto const line = first_line(sums.finish({"0", "1", "2"}));
  auto together = one;
  together.insert(together.end(), other.begin(), other.end());
  auto const all = first_line(kernels({{"gemm", together}}));
  for (auto const* const column :
       {"Total Time", "Instances", "Avg", "Min", "Max", "StdDev", "Name"})
    CHECK(line.at(column) == all.at(column));
  CHECK(line.at("Ranks") == "2");
  CHECK(line.at("Rank Min") == "90");
  CHECK(line.at("Rank Max") == "105");
  CHECK(line.at("Slowest") == "2");
  CHECK_FALSE(line.contains("Med"));
}

TEST_CASE("a report whose lines are not sums is not added up") {
  CHECK(report::summed_table::takes(kernels({})));
  CHECK(report::summed_table::takes(report::memory_size_table({})));
  CHECK_FALSE(report::summed_table::takes(report::migration_table({})));
}

TEST_CASE("the rank with most bytes is named") {
  report::summed_table sums;
  sums.add(report::memory_size_table({{"copy", {}, statistics_of({4})}}), 0);
  sums.add(report::memory_size_table({{"copy", {}, statistics_of({9})}}), 1);
  CHECK(first_line(sums.finish({"3", "8"})).at("Greatest") == "8");
}

TEST_CASE("a rank with times that were taken from other launches adds up with one without") {
  kernel_row row{"gemm", {}, {}, statistics_of({10, 20}), inferred_time{20, 3.0}};
  for (bool const inferred_first : {false, true}) {
    report::summed_table sums;
    if (inferred_first) sums.add(report::kernel_table({row}), 1);
    sums.add(kernels({{"gemm", {40}}}), 0);
    if (!inferred_first) sums.add(report::kernel_table({row}), 1);
    auto const line = first_line(sums.finish({"0", "1"}));
    CHECK(line.at("Name") == "gemm");
    CHECK(line.at("Total Time") == "70");
    CHECK(line.at("Ranks") == "2");
  }
}
