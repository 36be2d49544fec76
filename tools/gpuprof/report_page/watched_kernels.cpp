// SPDX-License-Identifier: Apache-2.0
#include "report_page/watched_kernels.hpp"

#include <algorithm>
#include <cstdio>

namespace gpuprof {
namespace {

class named_cells {
 public:
  explicit named_cells(report::table const& table) : columns_(table.columns) {}
  std::string_view text(report::row const& row, std::string_view column) const {
    auto const* const cell = std::get_if<std::string_view>(find(row, column));
    return cell == nullptr ? std::string_view() : *cell;
  }
  std::uint64_t whole(report::row const& row, std::string_view column) const {
    auto const* const cell = std::get_if<std::int64_t>(find(row, column));
    return cell == nullptr || *cell < 0 ? 0 : static_cast<std::uint64_t>(*cell);
  }

 private:
  report::cell const* find(report::row const& row, std::string_view column) const {
    for (std::size_t i = 0; i < columns_.size() && i < row.size(); ++i)
      if (columns_[i].name == column) return &row[i];
    return nullptr;
  }
  std::vector<report::column> const& columns_;
};

/// "264    1    1".
std::optional<captured_extent> extent_of(std::string_view text) {
  captured_extent extent;
  if (std::sscanf(std::string(text).c_str(), "%u %u %u", &extent.x, &extent.y, &extent.z) != 3)
    return std::nullopt;
  return extent;
}

/// Returns how many lines are not among them.
std::size_t take_lines(report::table const& table, bool with_extents, std::size_t max_lines,
                       std::vector<page::watched_line>& lines) {
  named_cells const cells(table);
  std::size_t more = 0;
  table.each_row([&](report::row const& row) {
    if (lines.size() == max_lines) {
      ++more;
      return;
    }
    page::watched_line line{std::string(cells.text(row, "Name")),
                            {},
                            {},
                            cells.whole(row, "Min"),
                            cells.whole(row, "Max")};
    if (with_extents) {
      line.grid = extent_of(cells.text(row, "GridXYZ"));
      line.block = extent_of(cells.text(row, "BlockXYZ"));
      if (!line.grid || !line.block) {
        ++more;
        return;
      }
    }
    lines.push_back(std::move(line));
  });
  return more;
}

}  // namespace

watched_kernels kernels_to_watch(std::vector<finished_report> const& reports,
                                 std::size_t max_kernels) {
  auto const max_signatures = max_kernels + max_kernels / 2;
  watched_kernels watched;
  for (auto const& report : reports) {
    if (!report.missing.empty()) continue;
    if (report.table.name == "cuda_gpu_kern_sum")
      watched.more_kernels = take_lines(report.table, false, max_kernels, watched.kernels);
    if (report.table.name == "cuda_gpu_kern_gb_sum")
      watched.more_signatures = take_lines(report.table, true, max_signatures, watched.signatures);
  }
  return watched;
}

}  // namespace gpuprof
