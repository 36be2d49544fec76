// SPDX-License-Identifier: Apache-2.0
#include "ranks/rank_stats.hpp"

#include "host/report/summed_table.hpp"
#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"
#include "ranks/rank_reports.hpp"

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::host::command {
namespace {

constexpr std::size_t not_there = ~std::size_t{0};

std::size_t place_of(std::string const& name, std::vector<text::column> const& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name) return i;
  return not_there;
}

/// Passes on the lines of a rank, in the columns that all ranks share.
void take_lines(text::table const& from, std::string_view rank,
                std::vector<text::column> const& columns,
                std::function<void(text::row const&)> const& take) {
  std::vector<std::size_t> places;
  for (auto const& column : columns) places.push_back(place_of(column.name, from.columns));
  from.each_row([&](text::row const& cells) {
    text::row line = {rank};
    for (auto const place : places)
      line.push_back(place != not_there ? cells[place] : text::cell());
    take(line);
  });
}

/// For a report that cannot be added up, shows the lines of each rank one after the other.
///
/// Some reports have certain columns only if a capture has values for them.
void add_columns(std::vector<text::column>& to, std::vector<text::column> const& more) {
  for (auto const& column : more)
    if (place_of(column.name, to) == not_there) to.push_back(column);
}

/// Name, title and columns are those of `like`. The captures are read again whenever rows are
/// needed, so that only one is in memory at a time.
text::table lines_of_each(text::table const& like, capture_set const& set,
                          chosen_report const& report, rank_stats_inputs const& inputs) {
  text::table table{like.name, like.title, {{"Rank", text::column_kind::text}}, {}};
  table.columns.insert(table.columns.end(), like.columns.begin(), like.columns.end());
  table.each_row = [captures = set.captures, columns = like.columns, report,
                    inputs](auto const& take) {
    for (auto const& capture : captures) {
      auto const outcome =
          make_stats({capture.path, {report}, inputs.filters, inputs.scope, inputs.step});
      if (!outcome.made || !outcome.made->reports().front().missing.empty()) continue;
      take_lines(outcome.made->reports().front().table, capture.label, columns, take);
    }
  };
  return table;
}

class maker {
 public:
  maker(capture_set const& set, rank_stats_inputs const& inputs) : set_(set), inputs_(inputs) {
    for (auto const& report : inputs.reports) {
      if (!is_over_ranks(report.kind)) {
        ordinary_.push_back(report);
        continue;
      }
      wants_digests_ = true;
      wants_.ranges = wants_.ranges || report.kind == report_kind::ranks_range_sum;
      wants_.styles.insert(report.names);
    }
    joined_.resize(ordinary_.size());
  }

  rank_stats_outcome make();

 private:
  struct joined_report {
    report::summed_table sums;
    text::table like;  // for a report that is not added up
    finished_report alone;
    rank_remarks missing, notes;
    bool is_there = false, is_summed = false;
  };

  stats_failure read(ranked_capture const& capture);
  stats_failure read_ordinary(ranked_capture const& capture);
  stats_failure read_digest_of(ranked_capture const& capture);
  finished_report finish(chosen_report const& report, joined_report& joined);

  capture_set const& set_;
  rank_stats_inputs const& inputs_;
  std::vector<chosen_report> ordinary_;
  std::vector<joined_report> joined_;
  digest_wants wants_;
  bool wants_digests_ = false;
  joined_heading heading_;
  text::overview last_overview_;
  std::vector<ranked_capture> used_;
  std::vector<std::string> labels_;  // of the captures in used_
  std::vector<rank_digest> digests_;
};

stats_failure maker::read(ranked_capture const& capture) {
  if (!ordinary_.empty())
    if (auto failure = read_ordinary(capture); !failure.message.empty()) return failure;
  if (wants_digests_)
    if (auto failure = read_digest_of(capture); !failure.message.empty()) return failure;
  heading_.add(last_overview_, capture);
  used_.push_back(capture);
  labels_.push_back(capture.label);
  return {};
}

stats_failure maker::read_ordinary(ranked_capture const& capture) {
  auto outcome =
      make_stats({capture.path, ordinary_, inputs_.filters, inputs_.scope, inputs_.step});
  if (!outcome.made) return outcome.failure;
  auto const made = std::make_shared<stats_result>(*std::move(outcome.made));
  for (std::size_t i = 0; i < joined_.size(); ++i) {
    auto const& report = made->reports()[i];
    auto& joined = joined_[i];
    if (set_.captures.size() == 1) {
      joined.alone = report;
      joined.alone.table.each_row = [made, each = report.table.each_row](auto const& take) {
        each(take);
      };
      continue;
    }
    joined.like.name = report.table.name;
    joined.like.title = report.table.title;
    add_columns(joined.like.columns, report.table.columns);
    for (auto const& note : report.notes) joined.notes.add(note, capture.label);
    if (report::summed_table::takes(report.table)) {
      joined.is_summed = true;
      joined.sums.add(report.table, used_.size());
    }
    if (report.missing.empty())
      joined.is_there = true;
    else
      joined.missing.add(report.missing, capture.label);
  }
  last_overview_ = made->overview();
  return {};
}

stats_failure maker::read_digest_of(ranked_capture const& capture) {
  auto opened = capture::reader::open(capture.path);
  if (!opened) return {opened.message(), false};
  trace_contents trace(std::move(*opened));
  selection wanted;
  if (auto const failed = narrow(wanted, inputs_.filters, trace, capture.path, inputs_.scope))
    return {failed->message, failed->wrong_options};
  digests_.push_back(read_digest(trace, wanted, inputs_.scope, wants_));
  last_overview_ = trace.overview();
  return {};
}

finished_report maker::finish(chosen_report const& report, joined_report& joined) {
  if (set_.captures.size() == 1) return std::move(joined.alone);
  finished_report finished;
  auto const missing = joined.missing.lines(used_.size());
  finished.table = joined.is_summed ? joined.sums.finish(labels_)
                                    : lines_of_each(joined.like, set_, report, inputs_);
  if (!joined.is_there) {
    finished.missing = missing.front();
    if (!joined.is_summed) finished.table.each_row = [](auto const&) {};
    return finished;
  }
  finished.notes = joined.notes.lines(used_.size());
  finished.notes.insert(finished.notes.end(), missing.begin(), missing.end());
  return finished;
}

rank_stats_outcome maker::make() {
  rank_stats made;
  for (auto const& capture : set_.captures) {
    auto failure = read(capture);
    if (failure.wrong_options) return {{}, std::move(failure)};
    if (failure.message.empty()) continue;
    made.remarks.push_back(failure.message);
  }
  if (used_.empty())
    return {{},
            {made.remarks.front() +
                 (set_.captures.size() > 1 ? "; nor do the other captures serve" : ""),
             false}};
  for (auto& remark : made.remarks) remark += "; the other captures are used";
  std::size_t next = 0;
  for (auto const& report : inputs_.reports) {
    auto finished = is_over_ranks(report.kind) ? report_over_ranks(report, used_, digests_)
                                               : finish(report, joined_[next++]);
    name_missing(finished, report.kind);
    made.reports.push_back(std::move(finished));
  }
  made.heading = set_.captures.size() == 1 ? overview_lines(last_overview_) : heading_.lines();
  return {std::move(made), {}};
}

}  // namespace

rank_stats_outcome make_rank_stats(capture_set const& set, rank_stats_inputs const& inputs) {
  return maker(set, inputs).make();
}

}  // namespace gpuprof::host::command
