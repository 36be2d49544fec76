// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/idle_causes.hpp"
#include "host/analysis/stack_times.hpp"
#include "host/reading/time_merge.hpp"
#include "host/report/owned_rows.hpp"
#include "lines/line_report.hpp"
#include "lines/source_texts.hpp"
#include "lines/stack_places.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

using report::append_cells;
using report::owned_rows;

struct reading {
  trace_contents& trace;
  selection const& wanted;
  idle_causes& causes;
  bool has_filter;
  work_gaps gaps = {};

  template <class Work>
  void operator()(Work const& work) {
    if (has_filter && !wanted.keeps(work)) return;
    gaps.add(work, [&](timestamp_ns from, timestamp_ns to) {
      causes.idle(work.device, {}, trace.os_thread(work.thread), from, to);
    });
  }
  void operator()(api_record const& call) { causes.add(call); }
  void operator()(thread_sample_record const& row) { causes.add(row); }
};

/// Looks with the same words in a table.
struct cause_row {
  double looks = 0;
  stack_record const* frame = nullptr;
};

std::vector<text::column> columns() {
  using text::column_kind;
  return {{"Share", column_kind::share, 6},
          {"GPU Idle", column_kind::mean_time},
          {"Looks", column_kind::decimal, 3},
          {"The Thread", column_kind::text, text::never_left_out},
          {"Where", column_kind::text, text::never_left_out},
          {"Held By", column_kind::text, 4},
          {"Function", column_kind::text, 2},
          {"File", column_kind::text, 1},
          {"Source", column_kind::text}};
}

/// "its 4 child processes meanwhile: 71 % runs Python at data.py:12, 20 % wants a core".
std::string words_of_children(idle_causes const& causes, stack_places const& places) {
  constexpr double worth_a_word = 0.03;
  auto const& seen = causes.looks_at_children();
  std::map<std::string, double> sums;
  for (auto const& [key, looks] : seen.by_key) {
    auto const where = places.where(places.own_frame_of(key.stack));
    sums[places.words_of(key) + (where.empty() ? "" : " at " + where)] += looks;
  }
  std::vector<std::pair<double, std::string>> most;
  for (auto const& [words, looks] : sums)
    if (looks >= worth_a_word * seen.all) most.emplace_back(looks / seen.all, words);
  std::ranges::sort(most, std::greater{});
  auto words = causes.children() == 1
                   ? "its child process meanwhile"
                   : "its " + std::to_string(causes.children()) + " child processes meanwhile";
  for (auto const& [share, what] : most) {
    words += &share == &most.front().first ? ": " : ", ";
    words += std::to_string(static_cast<int>(100 * share + 0.5)) + " % " + what;
  }
  return words;
}

}  // namespace

finished_report idle_cause_report(trace_contents& trace, selection const& wanted,
                                  std::string const& path) {
  finished_report finished;
  if (trace.file().row_count<thread_sample_record>() == 0) {
    finished.missing = path +
                       " holds no looks at threads. They are recorded unless with --sample none, "
                       "where /proc/self/task can be read";
    return finished;
  }
  idle_causes causes;
  for_each_in_time<thread_sample_record, api_record, kernel_record, copy_record, memset_record,
                   graph_record>(trace.file(),
                                 reading{trace, wanted, causes, !wanted.is_everything()});
  stack_places const places(trace);
  std::map<std::tuple<std::string, std::string, std::string>, cause_row> rows;
  for (auto const& [key, looks] : causes.looks().by_key) {
    auto const* const frame = places.own_frame_of(key.stack);
    auto& row = rows[{places.words_of(key), places.where(frame),
                      places.where(places.own_frame_of(key.holder))}];
    row.looks += looks;
    row.frame = frame;
  }
  auto const all = causes.looks().all;
  owned_rows made;
  source_texts sources(trace);
  for (auto const& [words, row] : rows) {
    text::row cells;
    auto const share = all > 0 ? row.looks / all : 0;
    auto const file = row.frame != nullptr ? trace.text()(row.frame->file) : std::string_view{};
    append_cells(
        cells, {100 * share, causes.idle_ns() * share, row.looks, made.keep(std::get<0>(words)),
                made.keep(std::get<1>(words)), made.keep(std::get<2>(words)),
                row.frame != nullptr ? trace.text()(row.frame->function) : std::string_view{}, file,
                row.frame != nullptr ? made.keep(sources.line(std::string(file), row.frame->line))
                                     : std::string_view{}});
    made.rows.push_back(std::move(cells));
  }
  std::stable_sort(made.rows.begin(), made.rows.end(), [](text::row const& a, text::row const& b) {
    return std::get<double>(a[1]) > std::get<double>(b[1]);
  });
  finished.table = report::table_of("idle_cause_sum", "What the CPU did while the GPU was idle",
                                    columns(), std::move(made));
  finished.notes.push_back("each look is at the thread that launched what the GPU did next; " +
                           std::to_string(static_cast<long>(all)) +
                           " looks fell into idle time, so shares are exact to about " +
                           std::to_string(static_cast<int>(share_error(all) + 0.5)) + " points");
  if (causes.looks_at_children().all > 0)
    finished.notes.push_back(words_of_children(causes, places));
  return finished;
}

}  // namespace gpuprof::host::command
