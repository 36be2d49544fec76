// SPDX-License-Identifier: Apache-2.0
#include "base/readable.hpp"
#include "host/report/whatif_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace gpuprof::host::report {
namespace {

using replay::path_part;

constexpr double least_share_shown = 0.005;

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

/// "CPU work 92.0 %, kernels 7.1 %", the greatest first.
std::string parts_of(replay::critical_path const& path) {
  std::vector<std::pair<double, path_part>> parts;
  for (std::size_t i = 0; i < replay::path_part_count; ++i)
    parts.emplace_back(path.ns[i], static_cast<path_part>(i));
  std::stable_sort(parts.begin(), parts.end(),
                   [](auto const& a, auto const& b) { return a.first > b.first; });
  std::string text;
  for (auto const& [ns, part] : parts) {
    auto const share = path.total_ns() > 0 ? ns / path.total_ns() : 0;
    if (share < least_share_shown) continue;
    text += (text.empty() ? "" : ", ") + std::string(replay::name_of(part)) + " " + percent(share);
  }
  return text;
}

std::string between(double low, double high) {
  auto const from = readable_time(low), to = readable_time(high);
  return from == to ? from : from + " to " + to;
}

void add_forecast(std::vector<std::string>& lines, whatif_report const& of) {
  auto const& forecast = *of.forecast;
  std::string edits;
  for (auto const& repair : of.repairs) edits += (edits.empty() ? "" : " ") + repair;
  lines.push_back("with:      " + edits);
  auto const low = forecast.least_gain_ns(), high = forecast.greatest_gain_ns();
  auto const step = forecast.now_ns;
  lines.push_back("a step:    " + readable_time(step) + " -> " +
                  between(forecast.low_ns, forecast.high_ns));
  lines.push_back(
      low < 0 && high <= 0
          ? "longer by: " + between(-high, -low) + ", " + percent(-high / step) + " to " +
                percent(-low / step)
          : "shorter by: " + (low < 0 ? "at most " + readable_time(high) : between(low, high)) +
                ", " + percent(std::max(0.0, low) / step) + " to " + percent(high / step));
  lines.push_back("held now by:  " + parts_of(forecast.now));
  lines.push_back("then held by: " + parts_of(forecast.then));
}

text::table sensitivity_table(whatif_report const& of) {
  using text::column_kind;
  text::table table{"whatif",
                    "How much shorter a step gets",
                    {{"Shorter with 10 % Less", column_kind::share},
                     {"Shorter Without", column_kind::share, text::never_left_out},
                     {"Time", column_kind::mean_time, 3},
                     {"Count", column_kind::decimal, 1},
                     {"Kind", column_kind::text, 2},
                     {"What"}},
                    {}};
  table.each_row = [&of](auto const& put) {
    auto const& found = *of.sensitivities;
    auto const put_one = [&](replay::sensitivity const& one) {
      put({100 * one.tenth_ns / found.step_ns, 100 * one.all_ns / found.step_ns, one.time_ns,
           one.count, replay::name_of(one.kind), std::string_view(one.name)});
    };
    for (auto const& kind : found.kinds) put_one(kind);
    for (auto const& rank : found.ranks) put_one(rank);
    for (auto const& subject : found.subjects) put_one(subject);
  };
  return table;
}

text::table forecast_table(whatif_report const& of) {
  using text::column_kind;
  text::table table{"whatif",
                    "What a step would take",
                    {{"Step", column_kind::mean_time},
                     {"Least", column_kind::mean_time},
                     {"Most", column_kind::mean_time}},
                    {}};
  table.each_row = [&of](auto const& put) {
    put({of.forecast->now_ns, of.forecast->low_ns, of.forecast->high_ns});
  };
  return table;
}

}  // namespace

std::vector<std::string> whatif_lines(whatif_report const& of) {
  auto lines = of.heading;
  auto const total = of.path.total_ns();
  auto const share = [&](double ns) { return total > 0 ? ns / total : 0; };
  lines.push_back("replayed:  " + readable_count(of.steps) + " of " +
                  counted(of.all_steps, "steps") + " \"" + of.step + "\", " +
                  readable_time(of.recorded_ns) + " each; replayed without a change " +
                  readable_time(of.replayed_ns));
  auto const inferred = share(of.path.inferred_ns);
  auto const unexplained = share(of.path[path_part::unexplained]);
  lines.push_back("explained: by recorded order " +
                  percent(std::max(0.0, 1 - inferred - unexplained)) + ", inferred " +
                  percent(inferred) + ", unexplained " + percent(unexplained));
  if (of.checked_ns && of.replayed_ns > 0)
    lines.push_back("checked:   with the CPU times of every other step a step takes " +
                    readable_time(*of.checked_ns) + ", " +
                    percent(std::abs(*of.checked_ns / of.replayed_ns - 1)) + " off");
  for (auto const& remark : of.remarks) lines.push_back("note: " + remark);
  if (of.forecast)
    add_forecast(lines, of);
  else
    lines.push_back("held by:   " + parts_of(of.path));
  return lines;
}

text::table whatif_table(whatif_report const& of) {
  return of.forecast ? forecast_table(of) : sensitivity_table(of);
}

}  // namespace gpuprof::host::report
