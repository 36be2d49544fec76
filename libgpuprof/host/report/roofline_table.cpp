// SPDX-License-Identifier: Apache-2.0
// The roofline as a table for reading.
#include "base/readable.hpp"
#include "host/report/peaks_words.hpp"
#include "host/report/roofline_report.hpp"
#include "text/overview.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace gpuprof::host::report {
namespace {

constexpr double sure_within = 0.05;

bool is_unsure(std::optional<double> value, std::optional<double> error) {
  return value && error && *error > sure_within * std::abs(*value);
}
/// Returns "41.6", "41.6~" or "41.6 ±21"; `scale` is that of the text.
std::string marked(std::string text, std::optional<double> value, std::optional<double> error,
                   double scale) {
  if (text.empty() || !is_unsure(value, error)) return text;
  if (is_very_unsure(*value, *error)) return text + " " + error_text(*error * scale);
  return text + unsure_mark;
}

/// An error that would not change a digit of a percentage is left out.
std::optional<double> shown_error(std::optional<double> share) {
  return share && *share < 0.0005 ? std::nullopt : share;
}

/// The error of operations per byte combines those of both.
std::optional<double> intensity_error(roofline_row const& line) {
  auto const share = [](std::optional<double> value, std::optional<double> error) {
    return value && error && *value > 0 ? *error / *value : 0;
  };
  if (!line.intensity) return std::nullopt;
  return *line.intensity * std::hypot(share(line.total_flops, line.total_flops_error),
                                      share(line.dram_rate, line.dram_error));
}

std::string extent_text(extent3 const& e) {
  return std::to_string(e.x) + "," + std::to_string(e.y) + "," + std::to_string(e.z);
}

std::string main_precision(roofline_row const& line) {
  auto const in = line.main_precision();
  return in ? std::string(name_of(*in)) : std::string();
}

std::string utilization_text(std::optional<double> share, bool is_limit) {
  return share && is_limit ? limit_mark + percent_text(share) : percent_text(share);
}

std::string source_text(roofline_row const& line) {
  // With a percentage if only a part of the time is known: the rates are of that part.
  auto name = std::string(name_of(line.source));
  if (line.source == flop_source::counted && line.exact_share < 0.9995)
    return fixed_text(line.exact_share, "%.1f%% ", 100) + name;
  auto const is_measured =
      line.source != flop_source::not_measured && line.source != flop_source::declared;
  if (is_measured && line.known_share < 0.9995)
    return fixed_text(line.known_share, "%.1f%% ", 100) + name;
  return name;
}

/// Empty if all bytes were counted around launches; else the source, with its share of the line's
/// time if that is below 100 %.
std::string units_text(roofline_row const& line) {
  auto const from = line.from.all();
  if (from == figure_source::none) return {};
  std::string text;
  auto const known = std::min(line.known.dram, line.known.l2);
  if (known > 0 && known < 0.9995) text = fixed_text(known, "%.1f%% ", 100);
  if (text.empty() && from == figure_source::exact) return {};
  return text + std::string(name_of(from)) + (line.from.is_shared ? ", shared" : "");
}

/// Returns "+1.3", the difference to the compared value.
std::string difference(std::optional<double> share) {
  return fixed_text(share, "%+.1f", 100);
}

struct roofline_column {
  char const* name;
  bool is_number;
  std::string (*text)(roofline_row const&);
  int leave_out = 0;  // as in text::column
};

std::string with_separators(std::uint64_t value) {
  return readable_count(value);
}

constexpr roofline_column all_columns[] = {
    {"Time (%)", true, [](roofline_row const& l) { return percent_text(l.time_share); }},
    {"Ranges", true,
     [](roofline_row const& l) {
       return l.instances == 0 ? std::string() : with_separators(l.instances);
     },
     11},
    {"Launches", true, [](roofline_row const& l) { return with_separators(l.launches); }, 14},
    {"Shapes", true,
     [](roofline_row const& l) { return l.shapes > 1 ? with_separators(l.shapes) : std::string(); },
     8},
    {"Avg (us)", true,
     [](roofline_row const& l) {
       auto text = scaled_text(l.mean_ns, 1e-3);
       if (!text.empty() && !l.inferred.error_ns) return text + unsure_mark;
       return marked(std::move(text), l.mean_ns, l.mean_error_ns(), 1e-3);
     },
     13},
    {"TFLOP/s", true,
     [](roofline_row const& l) {
       auto text = scaled_text(l.total_flops, 1e-12);
       if (l.flops_are_limit) return limit_mark + text;
       return marked(std::move(text), l.total_flops, l.total_flops_error, 1e-12);
     }},
    {"Mostly", false, main_precision, 2},
    {"FLOP from", false, source_text, 10},
    {"DRAM GB/s", true,
     [](roofline_row const& l) {
       return marked(scaled_text(l.dram_rate, 1e-9), l.dram_rate, l.dram_error, 1e-9);
     },
     15},
    {"L2 GB/s", true,
     [](roofline_row const& l) {
       return marked(scaled_text(l.l2_rate, 1e-9), l.l2_rate, l.l2_error, 1e-9);
     },
     3},
    {"FLOP/B", true,
     [](roofline_row const& l) {
       auto text = scaled_text(l.intensity, 1);
       if (l.flops_are_limit && l.intensity) return limit_mark + text;
       return marked(std::move(text), l.intensity, intensity_error(l), 1);
     },
     7},
    {"MHz", true,
     [](roofline_row const& l) {
       return marked(fixed_text(l.clock, "%.0f", 1e-6), l.clock, l.clock_error, 1e-6);
     },
     5},
    {"Clock loss (%)", true, [](roofline_row const& l) { return percent_text(l.clock_loss); }, 1},
    {"Occ. (%)", true,
     [](roofline_row const& l) {
       return marked(percent_text(l.occupancy), l.occupancy, shown_error(l.occupancy_error), 100);
     },
     9},
    {"Tensor (%)", true,
     [](roofline_row const& l) {
       return marked(percent_text(l.tensor_active), l.tensor_active,
                     shown_error(l.tensor_active_error), 100);
     },
     8},
    {"Units from", false, units_text, 4},
    {"Bound by", false, [](roofline_row const& l) { return std::string(name_of(l.bound)); }},
    {"Of roof (%)", true, [](roofline_row const& l) { return percent_text(l.of_roof); }},
    {"To roof (us)", true, [](roofline_row const& l) { return scaled_text(l.to_roof_ns, 1e-3); },
     6},
    {"Below roof (%)", true, [](roofline_row const& l) { return percent_text(l.below_roof); }},
    {"MFU (%)", true,
     [](roofline_row const& l) {
       return utilization_text(l.model_utilization(), l.model_flop_are_limit());
     }},
    {"HFU (%)", true,
     [](roofline_row const& l) {
       return utilization_text(l.hardware_utilization(), l.flops_are_limit);
     },
     16},
    {"Nodes' DRAM (%)", true, [](roofline_row const& l) { return difference(l.nodes.dram); }},
    {"Nodes' L2 (%)", true, [](roofline_row const& l) { return difference(l.nodes.l2); }},
    {"Nodes' tensor (%)", true,
     [](roofline_row const& l) { return difference(l.nodes.tensor_cycles); }},
    {"Grid", false,
     [](roofline_row const& l) { return l.grid.x == 0 ? std::string() : extent_text(l.grid); }},
    {"Block", false,
     [](roofline_row const& l) { return l.block.x == 0 ? std::string() : extent_text(l.block); },
     12},
    {"Arguments", false, [](roofline_row const& l) { return arguments_text(l); }},
    {"Class", false, [](roofline_row const& l) { return l.where.type; }, 2},
    {"Name", false, [](roofline_row const& l) { return l.name; }},
    {"Function", false, [](roofline_row const& l) { return l.where.function; }, 2},
    {"File", false, [](roofline_row const& l) { return l.where.file; }, 1},
    {"Source", false, [](roofline_row const& l) { return l.where.source; }},
};

struct words_for_lines {
  roofline_lines of;
  char const *plural, *title;
};
constexpr words_for_lines all_words[] = {
    {roofline_lines::kernels, "kernels", "Roofline by Kernel"},
    {roofline_lines::kinds, "kinds", "Roofline by Kind of Work"},
    {roofline_lines::signatures, "signatures", "Roofline by Kernel, Grid and Block"},
    {roofline_lines::ranges, "ranges", "Roofline by NVTX Range"},
    {roofline_lines::steps, "steps", "Roofline by Step"},
    {roofline_lines::graphs, "graphs", "Roofline by CUDA Graph"},
    {roofline_lines::lines, "lines", "Roofline by Line of Python"},
    {roofline_lines::functions, "functions", "Roofline by Function of Python"},
    {roofline_lines::files, "files", "Roofline by File of Python"},
    {roofline_lines::modules, "modules", "Roofline by Module of PyTorch"},
};
constexpr words_for_lines const& words_of(roofline_lines of) {
  return *std::find_if(std::begin(all_words), std::end(all_words),
                       [of](auto const& words) { return words.of == of; });
}

}  // namespace

std::string_view plural_of(roofline_lines of) noexcept {
  return words_of(of).plural;
}

bool are_in_source(roofline_lines of) noexcept {
  return of == roofline_lines::lines || of == roofline_lines::functions ||
         of == roofline_lines::files || of == roofline_lines::modules;
}

std::string arguments_text(roofline_row const& line) {
  if (!line.arguments) return {};
  if (*line.arguments == arguments_not_looked_at) return "unknown";
  if (*line.arguments == arguments_of_many_values) return "others";
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(*line.arguments));
  return text;
}

bool has_limits(std::span<roofline_row const> lines) {
  return std::ranges::any_of(lines, &roofline_row::flops_are_limit);
}

bool has_unsure_figures(std::span<roofline_row const> lines) {
  return std::any_of(lines.begin(), lines.end(), [](roofline_row const& l) {
    auto const flops_are_unsure =
        !l.flops_are_limit && (is_unsure(l.total_flops, l.total_flops_error) ||
                               is_unsure(l.intensity, intensity_error(l)));
    return flops_are_unsure || !l.inferred.error_ns || is_unsure(l.mean_ns, l.mean_error_ns()) ||
           is_unsure(l.dram_rate, l.dram_error) || is_unsure(l.l2_rate, l.l2_error) ||
           is_unsure(l.clock, l.clock_error) ||
           is_unsure(l.occupancy, shown_error(l.occupancy_error)) ||
           is_unsure(l.tensor_active, shown_error(l.tensor_active_error));
  });
}

std::string roofline_text(roofline_row const& line, std::string_view column) {
  return std::find_if(std::begin(all_columns), std::end(all_columns),
                      [&](auto const& one) { return one.name == column; })
      ->text(line);
}

text::table roofline_table(std::span<roofline_row const> lines, roofline_lines of) {
  struct shown {
    std::vector<roofline_column const*> columns;
    std::vector<std::vector<std::string>> rows;
  };
  auto const kept = std::make_shared<shown>();
  text::table made{"roofline", words_of(of).title, {}, {}};
  for (auto const& column : all_columns) {
    bool const used = std::any_of(lines.begin(), lines.end(),
                                  [&](auto const& line) { return !column.text(line).empty(); });
    if (!used && std::string_view(column.name) != "Name") continue;
    kept->columns.push_back(&column);
    made.columns.push_back({column.name,
                            column.is_number ? text::column_kind::number : text::column_kind::text,
                            column.leave_out});
  }
  for (auto const& line : lines) {
    auto& texts = kept->rows.emplace_back();
    for (auto const* const column : kept->columns) texts.push_back(column->text(line));
  }
  made.each_row = [kept](std::function<void(text::row const&)> const& take) {
    for (auto const& texts : kept->rows) take(text::row(texts.begin(), texts.end()));
  };
  return made;
}

}  // namespace gpuprof::host::report
