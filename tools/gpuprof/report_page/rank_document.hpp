// SPDX-License-Identifier: Apache-2.0
// What a page says of the ranks of a job beside each other: what `analyze` and `stats` say of
// several captures, and the time of each step on each rank.
#pragma once

#include "base/result.hpp"
#include "host/report/ledger_table.hpp"
#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"
#include "report_page/json_members.hpp"
#include "stats_output.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::command {

/// The steps of each rank, rank by rank; as many as a page can draw.
class rank_steps {
 public:
  explicit rank_steps(std::size_t ranks);

  void add(report::ledger const& time);
  /// {"shown", "left_out", "of": [{"period_ns": [...], "ns": {bucket: [...]}, "wait_ns": [...]}]};
  /// a bucket that no step of the rank has is left out, and waits where there are no collectives.
  std::string document(std::vector<std::vector<std::uint64_t>> const& waits) const;

 private:
  std::size_t max_steps_;
  std::size_t longest_ = 0;
  struct one_rank {
    std::size_t count = 0;
    json_members members;
  };
  std::vector<one_rank> ranks_;
};

/// Reads the ranks of a job, one capture open at a time, for the part of a page that shows them
/// beside each other.
class rank_reading {
 public:
  result<void> add(ranked_capture const& capture, std::string const& step_name);

  std::vector<std::string> heading() const { return heading_.lines(); }
  /// As `gpuprof stats` makes it; a report over ranks.
  finished_report report(std::string_view name) const;
  /// The first capture, and of the others those whose kernels work for the longest time; all of
  /// them `count`.
  std::set<std::size_t> slowest(std::size_t count) const;
  /// By rank and step: how long its collectives waited for the rank that began last. Empty where
  /// there are no collectives.
  std::vector<std::vector<std::uint64_t>> waits() const;

 private:
  std::vector<ranked_capture> captures_;
  std::vector<rank_digest> digests_;
  joined_heading heading_;
};

/// {"remarks", "heading", "analyze": {...}, "reports": {name: table}, "steps": {...}}.
result<std::string> rank_document(capture_set const& set, std::string const& step_name,
                                  rank_reading const& read, rank_steps const& steps);

}  // namespace gpuprof::host::command
