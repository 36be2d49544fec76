// SPDX-License-Identifier: Apache-2.0
#include "host/report/roofline_report.hpp"

namespace gpuprof::host::report {
namespace {

using roofline_field = field<roofline_row>;
using enum text::column_kind;

written_value written(extent3 const& e) {
  auto const joined = [&](char const* between) {
    return std::to_string(e.x) + between + std::to_string(e.y) + between + std::to_string(e.z);
  };
  return {joined(" "), "[" + joined(", ") + "]"};
}

written_value written(std::set<std::uint32_t> const& ranks) {
  written_value list;
  for (auto const rank : ranks) {
    list.cell += (list.cell.empty() ? "" : " ") + std::to_string(rank);
    list.json += (list.json.empty() ? "" : ", ") + std::to_string(rank);
  }
  list.json = "[" + list.json + "]";
  return list;
}

std::string snake_case(std::string_view name) {
  std::string out;
  for (char const c : name)
    out += c == ' ' ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}

template <class Get>
roofline_field text_field(std::string column, std::string member, Get get) {
  static_assert(std::is_same_v<decltype(get(roofline_row())), std::string_view>);
  return {std::move(column), std::move(member), text::column_kind::text,
          [get](roofline_row const& l) { return std::string(get(l)); }};
}
roofline_field whole_field(std::string const& name, std::uint64_t roofline_row::*of) {
  return {name, name, integer, [of](roofline_row const& l) { return l.*of; }};
}
roofline_field number_field(std::string column, std::string member,
                            std::function<std::optional<double>(roofline_row const&)> get) {
  return {std::move(column), std::move(member), number,
          [get = std::move(get)](roofline_row const& l) { return known(get(l)); }};
}
template <class Number>
roofline_field number_field(std::string const& name, Number roofline_row::*of) {
  return number_field(name, name, [of](roofline_row const& l) { return std::optional(l.*of); });
}
roofline_field flag_field(std::string column, std::string member,
                          std::function<bool(roofline_row const&)> get) {
  return {std::move(column), std::move(member), text::column_kind::text,
          [get = std::move(get)](roofline_row const& l) { return get(l); }};
}

void add_place(std::vector<roofline_field>& to) {
  auto const words = [&](char const* column, std::string source_place::*of) {
    to.push_back({column, std::string("where.") + column, text::column_kind::text,
                  [of](roofline_row const& l) { return l.where.*of; }});
  };
  words("file", &source_place::file);
  to.push_back({"line", "where.line", integer, [](roofline_row const& l) {
                  return l.where.line == 0 ? field_value()
                                           : field_value(std::uint64_t{l.where.line});
                }});
  words("function", &source_place::function);
  words("class", &source_place::type);
  words("source", &source_place::source);
}

void add_names(std::vector<roofline_field>& to, roofline_lines of) {
  to.push_back(
      {"name", "name", text::column_kind::text, [](roofline_row const& l) { return l.name; }});
  if (of == roofline_lines::signatures) {
    to.push_back({"grid", "grid", text::column_kind::text,
                  [](roofline_row const& l) { return written(l.grid); }});
    to.push_back({"block", "block", text::column_kind::text,
                  [](roofline_row const& l) { return written(l.block); }});
  }
  if (of == roofline_lines::ranges) to.push_back(whole_field("ranges", &roofline_row::instances));
  if (are_in_source(of)) add_place(to);
}

/// Adds a field for each precision; JSON leaves out those that were not counted.
void add_precisions(std::vector<roofline_field>& to, std::string const& ending,
                    std::array<std::optional<double>, precision_count> roofline_row::*of) {
  for (std::size_t p = 0; p < precision_count; ++p) {
    std::string const key(key_of(static_cast<precision>(p)));
    to.push_back(number_field("flops_" + key + ending, "flops_by_precision" + ending + "." + key,
                              [=](auto const& l) { return (l.*of)[p]; }));
    to.back().left_out_when_unknown = true;
  }
}

void add_flop(std::vector<roofline_field>& to) {
  to.push_back(number_field("flops", &roofline_row::total_flops));
  to.push_back(
      text_field("flop_source", "flop_source", [](auto const& l) { return name_of(l.source); }));
  to.push_back(number_field("flop_exact_share", &roofline_row::exact_share));
  add_precisions(to, "", &roofline_row::flops);
}

void add_units(std::vector<roofline_field>& to) {
  to.push_back(number_field("dram_bytes_per_second", &roofline_row::dram_rate));
  to.push_back(number_field("l2_bytes_per_second", &roofline_row::l2_rate));
  to.push_back(number_field("flop_per_dram_byte", &roofline_row::intensity));
  to.push_back(number_field("flop_per_l2_byte", &roofline_row::l2_intensity));
  to.push_back(number_field("sm_clock_hz", &roofline_row::clock));
  to.push_back(number_field("clock_loss", &roofline_row::clock_loss));
  to.push_back(number_field("occupancy", &roofline_row::occupancy));
  to.push_back(number_field("tensor_active", &roofline_row::tensor_active));
}

void add_verdict(std::vector<roofline_field>& to) {
  to.push_back({"bound_by", "bound_by", text::column_kind::text, [](roofline_row const& l) {
                  return l.bound == bound_by{} ? field_value()
                                               : field_value(std::string(name_of(l.bound)));
                }});
  to.push_back(number_field("of_roof", &roofline_row::of_roof));
  to.push_back(number_field("to_roof_ns", &roofline_row::to_roof_ns));
  to.push_back(number_field("below_roof", &roofline_row::below_roof));
  for (std::size_t i = 0; i < roof_count; ++i) {
    std::string const roof(name_of(roof_of(i)));
    to.push_back(number_field("of_" + snake_case(roof), "roof_shares." + roof,
                              [i](auto const& l) { return l.shares[i]; }));
    to.back().left_out_when_unknown = true;
  }
}

void add_sources(std::vector<roofline_field>& to) {
  auto const source = [&](char const* column, char const* unit, figure_source figure_sources::*of) {
    to.push_back(text_field(column, std::string("sources.") + unit,
                            [of](auto const& l) { return name_of(l.from.*of); }));
  };
  source("dram_source", "dram", &figure_sources::dram);
  source("l2_source", "l2", &figure_sources::l2);
  source("sm_clock_source", "sm_clock", &figure_sources::clock);
  source("occupancy_source", "occupancy", &figure_sources::occupancy);
  source("tensor_source", "tensor", &figure_sources::tensor);
  to.push_back(flag_field("shared", "shared", [](auto const& l) { return l.from.is_shared; }));
}

void add_errors(std::vector<roofline_field>& to) {
  to.push_back(number_field("dram_bytes_per_second_error", &roofline_row::dram_error));
  to.push_back(number_field("l2_bytes_per_second_error", &roofline_row::l2_error));
  to.push_back(number_field("flops_error", &roofline_row::total_flops_error));
  add_precisions(to, "_error", &roofline_row::flops_error);
  to.push_back(number_field("sm_clock_hz_error", &roofline_row::clock_error));
  to.push_back(number_field("occupancy_error", &roofline_row::occupancy_error));
  to.push_back(number_field("tensor_active_error", &roofline_row::tensor_active_error));
}

void add_graph_check(std::vector<roofline_field>& to) {
  auto const share = [&](char const* column, char const* member,
                         std::optional<double> nodes_check::*of) {
    to.push_back(number_field(column, member, [of](auto const& l) { return l.nodes.*of; }));
  };
  share("nodes_exceed_dram", "nodes_exceed.dram_bytes", &nodes_check::dram);
  share("nodes_exceed_l2", "nodes_exceed.l2_bytes", &nodes_check::l2);
  share("nodes_exceed_tensor_cycles", "nodes_exceed.tensor_cycles", &nodes_check::tensor_cycles);
}

/// The share of the line's time for which a value is known. Below one half, the value is left out.
void add_known_shares(std::vector<roofline_field>& to) {
  to.push_back(number_field("flop_known_share", &roofline_row::known_share));
  to.push_back({"read_by_ranks", "read_by_ranks", text::column_kind::text,
                [](roofline_row const& l) { return written(l.read_by_ranks); }});
  auto const share = [&](std::string const& unit, double known_shares::*of) {
    to.push_back(number_field(unit + "_known_share", "known_shares." + unit,
                              [of](auto const& l) { return std::optional(l.known.*of); }));
  };
  share("dram", &known_shares::dram);
  share("l2", &known_shares::l2);
  share("sm_clock", &known_shares::clock);
  share("occupancy", &known_shares::occupancy);
  share("tensor", &known_shares::tensor);
}

void add_flop_limits(std::vector<roofline_field>& to) {
  to.push_back(flag_field("flops_are_upper_limit", "flops_are_upper_limit",
                          [](auto const& l) { return l.flops_are_limit; }));
  to.push_back(number_field("flops_low", "flops_low", [](auto const& l) { return l.flops_low(); }));
  to.push_back(
      number_field("flops_high", "flops_high", [](auto const& l) { return l.flops_high(); }));
}

void add_utilization(std::vector<roofline_field>& to) {
  to.push_back(number_field("elapsed_ns", "elapsed_ns", [](auto const& l) {
    return l.elapsed_ns > 0 ? std::optional(l.elapsed_ns) : std::nullopt;
  }));
  to.push_back(number_field("peak_flops", &roofline_row::peak_flops));
  to.push_back(number_field("mfu", "mfu", [](auto const& l) { return l.model_utilization(); }));
  to.push_back(number_field("hfu", "hfu", [](auto const& l) { return l.hardware_utilization(); }));
  to.push_back(text_field("mfu_flop", "mfu_flop", [](auto const& l) -> std::string_view {
    if (!l.model_utilization()) return {};
    return l.declared_flop > 0 ? "declared" : name_of(*l.main_precision());
  }));
}

}  // namespace

std::vector<field<roofline_row>> roofline_fields(roofline_lines of) {
  std::vector<roofline_field> fields;
  add_names(fields, of);
  fields.push_back(whole_field("launches", &roofline_row::launches));
  fields.push_back(whole_field("samples", &roofline_row::samples));
  fields.push_back(number_field("time_ns", &roofline_row::total_ns));
  fields.push_back(number_field("time_share", &roofline_row::time_share));
  fields.push_back(number_field("avg_ns", &roofline_row::mean_ns));
  add_flop(fields);
  add_units(fields);
  add_verdict(fields);
  add_sources(fields);
  add_errors(fields);
  if (of == roofline_lines::signatures)
    fields.push_back({"arguments", "arguments", text::column_kind::text,
                      [](roofline_row const& l) { return arguments_text(l); }});
  if (of == roofline_lines::graphs) add_graph_check(fields);
  add_known_shares(fields);
  add_flop_limits(fields);
  if (of == roofline_lines::ranges || of == roofline_lines::steps || are_in_source(of))
    add_utilization(fields);
  if (of == roofline_lines::kernels) fields.push_back(whole_field("shapes", &roofline_row::shapes));
  fields.push_back(number_field("time_inferred_ns", "time_inferred_ns",
                                [](auto const& l) { return l.inferred.ns; }));
  fields.push_back(number_field("time_error_ns", "time_error_ns",
                                [](auto const& l) { return l.inferred.error_ns; }));
  return fields;
}

text::table roofline_csv_table(std::span<roofline_row const> lines, roofline_lines of) {
  return table_of_fields("roofline", "Roofline", roofline_fields(of), lines);
}

}  // namespace gpuprof::host::report
