// SPDX-License-Identifier: Apache-2.0
// The roofline as a table for programs.
#include "host/report/owned_rows.hpp"
#include "host/report/roofline_report.hpp"

#include <memory>

namespace gpuprof::host::report {
namespace {

std::string extent_cell(extent3 const& e) {
  return std::to_string(e.x) + " " + std::to_string(e.y) + " " + std::to_string(e.z);
}

std::string snake_case(std::string_view name) {
  std::string out;
  for (char const c : name)
    out += c == ' ' ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}

std::vector<text::column> columns_of(roofline_lines of) {
  using enum text::column_kind;
  std::vector<text::column> columns = {{"name"}};
  if (of == roofline_lines::signatures) {
    columns.push_back({"grid"});
    columns.push_back({"block"});
  }
  if (of == roofline_lines::ranges) columns.push_back({"ranges", integer});
  columns.insert(columns.end(), {{"launches", integer},
                                 {"samples", integer},
                                 {"time_ns", text::column_kind::number},
                                 {"time_share", text::column_kind::number},
                                 {"avg_ns", text::column_kind::number},
                                 {"flops", text::column_kind::number},
                                 {"flop_source"},
                                 {"flop_exact_share", text::column_kind::number}});
  for (std::size_t p = 0; p < precision_count; ++p)
    columns.push_back(
        {"flops_" + std::string(key_of(static_cast<precision>(p))), text::column_kind::number});
  for (auto const* const name :
       {"dram_bytes_per_second", "l2_bytes_per_second", "flop_per_dram_byte", "flop_per_l2_byte",
        "sm_clock_hz", "clock_loss", "occupancy", "tensor_active"})
    columns.push_back({name, text::column_kind::number});
  columns.push_back({"bound_by"});
  for (auto const* const name : {"of_roof", "to_roof_ns", "potential_gain"})
    columns.push_back({name, text::column_kind::number});
  for (std::size_t i = 0; i < roof_count; ++i)
    columns.push_back({"of_" + snake_case(name_of(roof_of(i))), text::column_kind::number});
  for (auto const* const name : {"dram_source", "l2_source", "sm_clock_source", "occupancy_source",
                                 "tensor_source", "shared"})
    columns.push_back({name});
  columns.push_back({"dram_bytes_per_second_error", text::column_kind::number});
  columns.push_back({"l2_bytes_per_second_error", text::column_kind::number});
  columns.push_back({"flops_error", text::column_kind::number});
  for (std::size_t p = 0; p < precision_count; ++p)
    columns.push_back({"flops_" + std::string(key_of(static_cast<precision>(p))) + "_error",
                       text::column_kind::number});
  for (auto const* const name : {"sm_clock_hz_error", "occupancy_error", "tensor_active_error"})
    columns.push_back({name, text::column_kind::number});
  if (of == roofline_lines::signatures) columns.push_back({"arguments"});
  if (of == roofline_lines::graphs)
    for (auto const* const name :
         {"nodes_exceed_dram", "nodes_exceed_l2", "nodes_exceed_tensor_cycles"})
      columns.push_back({name, text::column_kind::number});
  columns.push_back({"flop_known_share", text::column_kind::number});
  columns.push_back({"read_by_ranks"});
  for (auto const* const name : {"dram_known_share", "l2_known_share", "sm_clock_known_share",
                                 "occupancy_known_share", "tensor_known_share"})
    columns.push_back({name, text::column_kind::number});
  columns.push_back({"flops_are_upper_limit"});
  for (auto const* const name : {"flops_low", "flops_high"})
    columns.push_back({name, text::column_kind::number});
  return columns;
}

/// "0 3": in a cell of their own.
std::string ranks_text(std::set<std::uint32_t> const& ranks) {
  std::string text;
  for (auto const rank : ranks) text += (text.empty() ? "" : " ") + std::to_string(rank);
  return text;
}

}  // namespace

text::table roofline_csv_table(std::span<roofline_row const> lines, roofline_lines of) {
  return {
      "roofline", "Roofline", columns_of(of),
      [lines, of](std::function<void(text::row const&)> const& take) {
        for (auto const& line : lines) {
          auto const grid = extent_cell(line.grid), block = extent_cell(line.block);
          text::row cells = {std::string_view(line.name)};
          if (of == roofline_lines::signatures) {
            cells.emplace_back(std::string_view(grid));
            cells.emplace_back(std::string_view(block));
          }
          if (of == roofline_lines::ranges) cells.emplace_back(whole(line.instances));
          cells.insert(cells.end(),
                       {whole(line.launches), whole(line.samples), text::number_cell(line.total_ns),
                        text::number_cell(line.time_share), text::number_cell(line.mean_ns),
                        text::number_cell(line.total_flops), name_of(line.source),
                        text::number_cell(line.exact_share)});
          for (auto const& flops : line.flops) cells.push_back(text::number_cell(flops));
          cells.insert(cells.end(),
                       {text::number_cell(line.dram_rate), text::number_cell(line.l2_rate),
                        text::number_cell(line.intensity), text::number_cell(line.l2_intensity),
                        text::number_cell(line.clock), text::number_cell(line.clock_loss),
                        text::number_cell(line.occupancy), text::number_cell(line.tensor_active)});
          cells.emplace_back(name_of(line.bound));
          cells.insert(cells.end(),
                       {text::number_cell(line.of_roof), text::number_cell(line.to_roof_ns),
                        text::number_cell(line.potential_gain)});
          for (auto const& share : line.shares) cells.push_back(text::number_cell(share));
          auto const& from = line.from;
          for (auto const source : {from.dram, from.l2, from.clock, from.occupancy, from.tensor})
            cells.emplace_back(name_of(source));
          cells.emplace_back(std::string_view(from.is_shared ? "yes" : ""));
          cells.push_back(text::number_cell(line.dram_error));
          cells.push_back(text::number_cell(line.l2_error));
          cells.push_back(text::number_cell(line.total_flops_error));
          for (auto const& error : line.flops_error) cells.push_back(text::number_cell(error));
          for (auto const& error :
               {line.clock_error, line.occupancy_error, line.tensor_active_error})
            cells.push_back(text::number_cell(error));
          auto const arguments = arguments_text(line);
          if (of == roofline_lines::signatures) cells.emplace_back(std::string_view(arguments));
          if (of == roofline_lines::graphs)
            for (auto const& share : {line.nodes.dram, line.nodes.l2, line.nodes.tensor_cycles})
              cells.push_back(text::number_cell(share));
          cells.push_back(text::number_cell(line.known_share));
          auto const ranks = ranks_text(line.read_by_ranks);
          cells.emplace_back(std::string_view(ranks));
          auto const& known = line.known;
          for (auto const share :
               {known.dram, known.l2, known.clock, known.occupancy, known.tensor})
            cells.push_back(text::number_cell(share));
          cells.emplace_back(std::string_view(line.flops_are_limit ? "yes" : ""));
          cells.push_back(text::number_cell(line.flops_low()));
          cells.push_back(text::number_cell(line.flops_high()));
          take(cells);
        }
      }};
}

}  // namespace gpuprof::host::report
