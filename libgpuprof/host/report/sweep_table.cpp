// SPDX-License-Identifier: Apache-2.0
// A sweep as a table for reading, and as one for programs.
#include "base/readable.hpp"
#include "host/report/owned_rows.hpp"
#include "host/report/peaks_words.hpp"
#include "host/report/sweep_report.hpp"

#include <algorithm>

namespace gpuprof::host::report {
namespace {

bool is_on_plateau(sweep_findings const& found, std::size_t point) {
  return found.plateau &&
         std::binary_search(found.plateau->points.begin(), found.plateau->points.end(), point);
}

std::string remarks_on(sweep const& of, std::size_t point) {
  std::string text;
  auto const add = [&](char const* words) { text.append(text.empty() ? "" : ", ").append(words); };
  if (of.found.plateau && of.found.plateau->fastest == point)
    add("fastest");
  else if (is_on_plateau(of.found, point))
    add("plateau");
  if (of.found.reached == point) add("90 %");
  if (of.found.leaves_roof == point) add("leaves the roof");
  return text;
}

std::string bytes_from_text(sweep_point const& p) {
  return std::string(name_of(p.bytes_from));
}

/// Spread of the judged value; if there is none, of the time.
std::optional<double> judged_spread(sweep const& of, sweep_point const& p) {
  switch (of.found.judged) {
    case sweep_figure::flops:
      return spread_of(p.all_flops, p.flops);
    case sweep_figure::bytes:
      return spread_of(p.all_bytes, p.bytes);
    case sweep_figure::none:
      break;
  }
  return spread_of(p.times_per_call, p.time_per_call);
}

struct sweep_column {
  char const* name;
  bool is_number;
  std::string (*text)(sweep const&, std::size_t);
  int leave_out = 0;
  bool (*is_wanted)(sweep const&) = nullptr;  // null: shown if any line has a text
};

bool has_several_of_a_size(sweep const& of) {
  return std::any_of(of.points.begin(), of.points.end(),
                     [](auto const& p) { return p.captures > 1; });
}

constexpr sweep_column sweep_columns[] = {
    {"Captures", true,
     [](sweep const& s, std::size_t i) { return readable_count(s.points[i].captures); }, 6,
     has_several_of_a_size},
    {"Calls", true, [](sweep const& s, std::size_t i) { return readable_count(s.points[i].calls); },
     5},
    {"GPU time/call (us)", true,
     [](sweep const& s, std::size_t i) { return scaled_text(s.points[i].time_per_call, 1e-3); }},
    {"TFLOP/s", true,
     [](sweep const& s, std::size_t i) { return scaled_text(s.points[i].flops, 1e-12); }},
    {"FLOP from", false,
     [](sweep const& s, std::size_t i) {
       auto const& p = s.points[i];
       return p.flops ? std::string(name_of(p.flops_from)) : std::string();
     },
     3},
    {"GB/s", true,
     [](sweep const& s, std::size_t i) { return scaled_text(s.points[i].bytes, 1e-9); }},
    {"Bytes from", false,
     [](sweep const& s, std::size_t i) { return bytes_from_text(s.points[i]); }, 2},
    {"Spread (%)", true,
     [](sweep const& s, std::size_t i) { return percent_text(judged_spread(s, s.points[i])); }, 4},
    {"Bound by", false,
     [](sweep const& s, std::size_t i) { return std::string(name_of(s.points[i].bound)); }},
    {"Of roof (%)", true,
     [](sweep const& s, std::size_t i) { return percent_text(s.points[i].of_roof); }},
    {"Remarks", false, remarks_on},
};

}  // namespace

text::table sweep_table(sweep const& of) {
  std::vector<text::column> shown = {
      {of.facts.over, text::column_kind::text, text::never_left_out}};
  std::vector<sweep_column const*> kept;
  for (auto const& each : sweep_columns) {
    if (each.is_wanted != nullptr && !each.is_wanted(of)) continue;
    bool any = false;
    for (std::size_t i = 0; i < of.points.size() && !any; ++i) any = !each.text(of, i).empty();
    if (!any) continue;
    kept.push_back(&each);
    shown.push_back({each.name,
                     each.is_number ? text::column_kind::amount : text::column_kind::text,
                     each.leave_out});
  }
  if (has_sizes(of.points)) shown.front().kind = text::column_kind::amount;
  owned_rows rows;
  for (std::size_t i = 0; i < of.points.size(); ++i) {
    auto& cells = rows.rows.emplace_back();
    cells.emplace_back(rows.keep(of.points[i].label));
    for (auto const* each : kept) cells.emplace_back(rows.keep(each->text(of, i)));
  }
  return table_of("sweep", "Sweep of " + of.facts.subject + " over " + of.facts.over,
                  std::move(shown), std::move(rows));
}

text::table sweep_csv_table(sweep const& of) {
  using enum text::column_kind;
  std::vector<text::column> shown = {{"label"},
                                     {"size", text::column_kind::number},
                                     {"captures", integer},
                                     {"calls", integer},
                                     {"time_per_call_ns", text::column_kind::number},
                                     {"flops", text::column_kind::number},
                                     {"flop_source"},
                                     {"dram_bytes_per_second", text::column_kind::number},
                                     {"byte_source"},
                                     {"of_roof", text::column_kind::number},
                                     {"bound_by"},
                                     {"time_spread", text::column_kind::number},
                                     {"flops_spread", text::column_kind::number},
                                     {"dram_bytes_spread", text::column_kind::number},
                                     {"on_plateau"},
                                     {"remarks"}};
  owned_rows rows;
  for (std::size_t i = 0; i < of.points.size(); ++i) {
    auto const& p = of.points[i];
    rows.rows.push_back(
        {rows.keep(p.label), text::number_cell(p.size), whole(p.captures), whole(p.calls),
         text::number_cell(p.time_per_call), text::number_cell(p.flops), name_of(p.flops_from),
         text::number_cell(p.bytes), name_of(p.bytes_from), text::number_cell(p.of_roof),
         name_of(p.bound), text::number_cell(spread_of(p.times_per_call, p.time_per_call)),
         text::number_cell(spread_of(p.all_flops, p.flops)),
         text::number_cell(spread_of(p.all_bytes, p.bytes)),
         std::string_view(is_on_plateau(of.found, i) ? "yes" : ""), rows.keep(remarks_on(of, i))});
  }
  return table_of("sweep", "Sweep", std::move(shown), std::move(rows));
}

}  // namespace gpuprof::host::report
