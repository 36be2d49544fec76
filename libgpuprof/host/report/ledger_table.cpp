// SPDX-License-Identifier: Apache-2.0
#include "host/report/ledger_table.hpp"

#include "base/readable.hpp"
#include "host/report/advice_words.hpp"
#include "host/report/owned_rows.hpp"
#include "text/padding.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host::report {
namespace {

constexpr std::size_t ledger_indent = 2, time_width = 10, share_width = 9, max_bar = 30;
constexpr std::size_t width_without_page = 100;

time_bucket bucket_at(std::size_t i) noexcept {
  return static_cast<time_bucket>(i);
}

/// The two heading lines of a narrow column.
struct short_name {
  std::string_view above, below;
};
constexpr std::array<short_name, time_bucket_count> short_names = {{{"", "compute"},
                                                                    {"compute", "+ comm."},
                                                                    {"comm.", "alone"},
                                                                    {"copies,", "fills"},
                                                                    {"between", "queued"},
                                                                    {"idle:", "depend."},
                                                                    {"idle:", "sync"},
                                                                    {"idle:", "alloc."},
                                                                    {"idle:", "modules"},
                                                                    {"idle:", "graphs"},
                                                                    {"idle:", "launch"},
                                                                    {"idle:", "data"},
                                                                    {"idle:", "betw."},
                                                                    {"idle:", "CPU"},
                                                                    {"idle:", "host"},
                                                                    {"start-", "up"},
                                                                    {"after the", "last work"},
                                                                    {"this", "profiler"}}};

std::string bar_line(std::string_view name, double ns, double all, std::size_t name_width,
                     std::size_t bar_width) {
  std::string line(ledger_indent, ' ');
  auto const share = all > 0 ? ns / all : 0;
  text::append_padded(line, name, name_width, false);
  text::append_padded(line, " " + readable_time(ns), time_width, true);
  text::append_padded(line, percent(share), share_width, true);
  auto const bar = std::lround(share * static_cast<double>(bar_width));
  if (bar > 0) line.append("  ").append(static_cast<std::size_t>(bar), '#');
  return line;
}

/// Returns the buckets with a sufficient share of the time, the greatest first.
std::vector<time_bucket> buckets_that_matter(bucket_times const& times) {
  std::vector<time_bucket> buckets;
  for (std::size_t i = 0; i < time_bucket_count; ++i)
    if (times[bucket_at(i)] > 0 && times[bucket_at(i)] >= least_ledger_share * times.total())
      buckets.push_back(bucket_at(i));
  std::stable_sort(buckets.begin(), buckets.end(),
                   [&](auto a, auto b) { return times[a] > times[b]; });
  return buckets;
}

double sum_of(bucket_times const& times, std::vector<time_bucket> const& buckets) {
  double sum = 0;
  for (auto const bucket : buckets) sum += times[bucket];
  return sum;
}

std::string heading_line(std::string_view title, std::string_view of_time, std::size_t title_width,
                         std::vector<std::string_view> const& names) {
  std::string line(ledger_indent, ' ');
  text::append_padded(line, title, title_width, false);
  text::append_padded(line, of_time, time_width, true);
  for (auto const name : names) text::append_padded(line, name, share_width, true);
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

std::string shares_line(ledger_line const& of, std::string const& label, std::size_t title_width,
                        std::vector<time_bucket> const& buckets, bool has_others) {
  std::string line(ledger_indent, ' ');
  auto const all = of.times.total();
  auto const share = [&](double ns) {
    text::append_padded(line, all > 0 ? percent(ns / all) : "-", share_width, true);
  };
  text::append_padded(line, label, title_width, false);
  text::append_padded(line, " " + readable_time(of.length_ns()), time_width, true);
  for (auto const bucket : buckets) share(of.times[bucket]);
  if (has_others) share(std::max(0.0, all - sum_of(of.times, buckets)));
  return line;
}

}  // namespace

std::string kinds_of(ledger const& of) {
  constexpr double least_share = 0.01;
  std::string text;
  for (auto const& line : of.kinds) {
    if (line.share < least_share) continue;
    text += (text.empty() ? "Kernels by kind of work: " : ", ") + std::string(name_of(line.kind)) +
            " " + percent(line.share);
  }
  return text.empty() ? text : text + ".";
}

std::vector<std::string> kinds_table(ledger const& of) {
  constexpr std::size_t name_width = 17, rate_width = 12;
  auto const line_of = [&](std::string_view name, std::string const& time, std::string const& share,
                           std::string const& launches, std::string const& rate,
                           std::string const& roof) {
    std::string line(ledger_indent, ' ');
    text::append_padded(line, name, name_width, false);
    text::append_padded(line, time, time_width, true);
    text::append_padded(line, share, share_width, true);
    text::append_padded(line, launches, rate_width, true);
    text::append_padded(line, rate, rate_width, true);
    text::append_padded(line, roof, rate_width, true);
    return line;
  };
  std::vector<std::string> lines = {
      line_of("kind of work", "time", "share", "launches", "DRAM", "of its roof")};
  for (auto const& kind : of.kinds)
    lines.push_back(line_of(name_of(kind.kind), readable_time(kind.ns), percent(kind.share),
                            readable_count(kind.launches),
                            kind.dram_bytes && kind.ns > 0
                                ? std::to_string(std::llround(*kind.dram_bytes / kind.ns)) + " GB/s"
                                : "-",
                            kind.of_roof ? percent(*kind.of_roof) : "-"));
  return lines;
}

std::string causes_of(ledger const& of, time_bucket bucket) {
  constexpr double least_share = 0.1;
  constexpr std::size_t most_shown = 3;
  std::string text;
  std::size_t shown = 0;
  for (auto const& cause : of.causes) {
    if (cause.bucket != bucket || cause.share < least_share || shown == most_shown) continue;
    ++shown;
    text.append(text.empty() ? "" : "; ").append(readable_time(cause.ns)).append(": ");
    text += cause.words;
    if (!cause.where.empty()) text += " at " + cause.where;
    if (!cause.held_by.empty()) text += ", held by " + cause.held_by;
  }
  return text;
}

std::vector<std::string> ledger_bars(bucket_times const& times, std::size_t width,
                                     std::function<std::string(time_bucket)> const& beside) {
  auto const buckets = buckets_that_matter(times);
  auto const all = times.total();
  auto const others = std::max(0.0, all - sum_of(times, buckets));
  std::size_t name_width = text::width_of("total");
  for (auto const bucket : buckets)
    name_width = std::max(name_width, text::width_of(name_of(bucket)));
  auto const used = ledger_indent + name_width + time_width + share_width + 2;
  auto const room = (width == 0 ? width_without_page : width);
  auto const bar = std::min(max_bar, room > used ? room - used : 0);
  std::vector<std::string> lines;
  for (auto const bucket : buckets) {
    lines.push_back(bar_line(name_of(bucket), times[bucket], all, name_width, bar));
    if (auto const text = beside ? beside(bucket) : std::string(); !text.empty())
      append_wrapped(lines, "    " + text, room, 4);
  }
  if (others > 0) lines.push_back(bar_line("other", others, all, name_width, bar));
  lines.push_back(bar_line("total", all, all, name_width, 0));
  return lines;
}

std::vector<std::string> ledger_shares(std::span<ledger_line const> lines, std::string const& title,
                                       std::size_t width) {
  bucket_times all;
  std::size_t title_width = text::width_of(title);
  for (auto const& line : lines) {
    all += line.times;
    title_width = std::max(title_width, text::width_of(line.label));
  }
  auto const room = width == 0 ? width_without_page : width;
  constexpr std::size_t least_beside = ledger_indent + time_width + 2 * share_width;
  auto const for_title = room > least_beside ? room - least_beside : 0;
  title_width = std::min({title_width, room * 3 / 10, for_title});
  auto buckets = buckets_that_matter(all);
  auto const columns = std::max<std::size_t>(
      1, (room - std::min(room, ledger_indent + title_width + time_width)) / share_width);
  bool has_others = all.total() - sum_of(all, buckets) > 0.0005 * all.total();
  if (buckets.size() + (has_others ? 1 : 0) > columns) {
    has_others = true;
    buckets.resize(std::max<std::size_t>(1, columns - 1));
  }
  std::vector<std::string_view> above, below;
  for (auto const bucket : buckets) {
    above.push_back(short_names[static_cast<std::size_t>(bucket)].above);
    below.push_back(short_names[static_cast<std::size_t>(bucket)].below);
  }
  if (has_others) above.emplace_back(""), below.emplace_back("other");
  std::vector<std::string> text = {heading_line("", "", title_width, above),
                                   heading_line(title, "time", title_width, below)};
  for (auto const& line : lines)
    text.push_back(shares_line(line, text::shortened(text::on_one_line(line.label), title_width),
                               title_width, buckets, has_others));
  return text;
}

std::span<ledger_line const> lines_of(ledger const& of, ledger_lines which) noexcept {
  switch (which) {
    case ledger_lines::gpus:
      return of.gpus;
    case ledger_lines::ranges:
      return of.ranges;
    case ledger_lines::steps:
      return of.steps;
    case ledger_lines::ranks:
      return of.ranks;
    case ledger_lines::kinds:
      break;
  }
  return {};
}

namespace {

text::table kinds_csv_table(ledger const& of) {
  using enum text::column_kind;
  owned_rows rows;
  for (auto const& kind : of.kinds)
    rows.rows.push_back({rows.keep(std::string(key_of(kind.kind))),
                         text::cell(static_cast<std::int64_t>(kind.launches)),
                         text::number_cell(kind.ns), text::number_cell(kind.share),
                         text::number_cell(kind.dram_bytes), text::number_cell(kind.of_roof)});
  return table_of("kinds", "Kinds of work",
                  {{"kind"},
                   {"launches", integer},
                   {"total_ns", number},
                   {"share", number},
                   {"dram_bytes", number},
                   {"of_roof", number}},
                  std::move(rows));
}

}  // namespace

text::table ledger_csv_table(ledger const& of, ledger_lines which) {
  using enum text::column_kind;
  if (which == ledger_lines::kinds) return kinds_csv_table(of);
  std::vector<text::column> columns = {
      {"label"}, {"rank"}, {"device", integer}, {"total_ns", number}};
  for (std::size_t i = 0; i < time_bucket_count; ++i)
    columns.push_back({std::string(key_of(bucket_at(i))) + "_ns", number});
  owned_rows rows;
  for (auto const& line : lines_of(of, which)) {
    text::row cells = {rows.keep(line.label), rows.keep(line.rank),
                       line.device ? text::cell(std::int64_t{*line.device}) : text::cell(),
                       text::number_cell(line.times.total())};
    for (std::size_t i = 0; i < time_bucket_count; ++i)
      cells.push_back(text::number_cell(line.times[bucket_at(i)]));
    rows.rows.push_back(std::move(cells));
  }
  return table_of("ledger", "Time ledger", std::move(columns), std::move(rows));
}

}  // namespace gpuprof::host::report
