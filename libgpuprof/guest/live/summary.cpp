// SPDX-License-Identifier: Apache-2.0
#include "guest/live/summary.hpp"

#include "base/readable.hpp"
#include "model/gpu_work.hpp"
#include "model/kernel_name.hpp"
#include "text/table.hpp"

#include <algorithm>

namespace gpuprof::guest {

using namespace text;

namespace {

using enum column_kind;

double percent(std::uint64_t part, std::uint64_t all) noexcept {
  return all == 0 ? 0 : static_cast<double>(part) * 100 / static_cast<double>(all);
}
std::int64_t whole(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value);
}
double mean(std::uint64_t total, std::uint64_t count) noexcept {
  return count == 0 ? 0 : static_cast<double>(total) / static_cast<double>(count);
}

std::vector<std::pair<row, std::string>> kernel_lines(live_snapshot const& totals) {
  std::vector<std::pair<row, std::string>> lines;
  for (auto const& k : totals.kernels)
    lines.push_back({{percent(k.total_ns, totals.kernel_ns), whole(k.total_ns), whole(k.count),
                      mean(k.total_ns, k.count), whole(k.minimum_ns), whole(k.maximum_ns)},
                     kernel_display_name(k.name, kernel_name_style::demangled)});
  return lines;
}

std::vector<std::pair<row, std::string>> copy_lines(live_snapshot const& totals) {
  std::vector<std::pair<row, std::string>> lines;
  for (auto const& c : totals.copies) {
    auto const per_second = mean(c.bytes, c.total_ns) * 1e9;
    lines.push_back({{whole(c.total_ns), whole(c.count), whole(c.bytes), per_second},
                     c.is_fill ? std::string(operation_of_memset) : operation_of(c.kind)});
  }
  return lines;
}

std::vector<std::pair<row, std::string>> range_lines(live_snapshot const& totals) {
  std::vector<std::pair<row, std::string>> lines;
  for (auto const& r : totals.ranges)
    lines.push_back(
        {{whole(r.gpu_ns), whole(r.cpu_ns), whole(r.count), whole(r.gpu_operations)}, r.name});
  return lines;
}

/// Appends a heading, the first `rows` lines under `columns` (the name is the last one) and the
/// number of lines that were left out.
void append_section(std::string& out, std::string_view heading, std::vector<column> columns,
                    std::vector<std::pair<row, std::string>> lines, std::size_t rows) {
  if (lines.empty()) return;
  auto const left_out = lines.size() - std::min(lines.size(), rows);
  lines.resize(lines.size() - left_out);
  columns.push_back({"Name"});
  table const section{"", "", std::move(columns), [&](std::function<void(row const&)> const& take) {
                        for (auto const& [cells, name] : lines) {
                          auto line = cells;
                          line.emplace_back(std::string_view(name));
                          take(line);
                        }
                      }};
  out.append("\n").append(heading).append("\n");
  write_columns(section, time_unit::nanoseconds, [&](std::string_view text) { out += text; });
  if (left_out > 0) out += " ... and " + readable_count(left_out) + " more\n";
}

}  // namespace

std::string summary_text(text::overview const& about, live_snapshot const& totals,
                         std::size_t rows) {
  std::string out;
  for (auto const& line : overview_lines(about)) out += line + "\n";
  if (totals.graph_count > 0)
    out += "whole graphs: " + counted(totals.graph_count, "launches") + ", " +
           readable_time(static_cast<double>(totals.graph_ns)) +
           " on the GPU, not split into kernels (--cuda-graph-trace=node does)\n";
  if (totals.without_range > 0)
    out += "ranges: " + counted(totals.without_range, "GPU operations") +
           " ended too long after their range to be counted in it here; the capture "
           "file has them\n";
  if (totals.kernels.empty() && totals.copies.empty() && totals.ranges.empty()) {
    out += "\nno kernel, copy or NVTX range was recorded\n";
    return out;
  }
  append_section(out, "kernels by total time",
                 {{"Time", column_kind::share},
                  {"Total Time", column_kind::time},
                  {"Instances", integer},
                  {"Avg", mean_time},
                  {"Min", column_kind::time},
                  {"Max", column_kind::time}},
                 kernel_lines(totals), rows);
  append_section(out, "copies and fills by total time",
                 {{"Total Time", column_kind::time},
                  {"Count", integer},
                  {"Total", size},
                  {"Throughput", throughput}},
                 copy_lines(totals), rows);
  append_section(out, "NVTX ranges by GPU time",
                 {{"GPU Time", column_kind::time},
                  {"CPU Time", column_kind::time},
                  {"Instances", integer},
                  {"GPU Ops", integer}},
                 range_lines(totals), rows);
  return out;
}

}  // namespace gpuprof::guest
