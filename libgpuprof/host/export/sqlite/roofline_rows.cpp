// SPDX-License-Identifier: Apache-2.0
// Rows of what gpuprof roofline says: rates, roofs, by signature, kernel, range and graph.
#include "base/utf8.hpp"
#include "host/export/sqlite/sqlite_output.hpp"

namespace gpuprof {
namespace {

std::optional<std::uint32_t> if_signature(exported_line const& line, std::uint32_t extent) {
  return line.kind == "signature" ? std::optional(extent) : std::nullopt;
}

std::optional<std::string_view> bound_of(roofline_row const& row) {
  auto const name = name_of(row.bound);
  return name.empty() ? std::nullopt : std::optional(name);
}

void write_flops(insertion& rows, std::int64_t id, roofline_row const& row) {
  for (std::size_t p = 0; p < precision_count; ++p)
    if (row.flops[p])
      rows.row(id, key_of(static_cast<precision>(p)), *row.flops[p], row.flops_error[p],
               row.shares[compute_roofs + p]);
}

}  // namespace

void write_roofline(sqlite_output& to) {
  if (!to.job.roofline) return;
  insertion lines(to.file, tables::roofline), flops(to.file, tables::roofline_flops);
  std::int64_t id = 0;
  for (auto const& line : to.job.roofline()) {
    auto const& row = line.row;
    auto const name = valid_utf8(row.name);
    auto const extent = [&](std::uint32_t value) { return if_signature(line, value); };
    lines.row(++id, line.kind, std::string_view(name), extent(row.grid.x), extent(row.grid.y),
              extent(row.grid.z), extent(row.block.x), extent(row.block.y), extent(row.block.z),
              row.arguments, row.launches, row.total_ns, row.mean_ns, row.total_flops,
              row.total_flops_error, name_of(row.source), row.known_share, row.dram_rate,
              row.dram_error, row.l2_rate, row.l2_error, row.intensity, row.clock, row.occupancy,
              row.tensor_active, bound_of(row), row.of_roof, row.potential_gain);
    write_flops(flops, id, row);
    to.job.advance(0);
  }
}

}  // namespace gpuprof
