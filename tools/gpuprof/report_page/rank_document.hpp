// SPDX-License-Identifier: Apache-2.0
// Writes the part of a page that compares the ranks of a job.
#pragma once

#include "base/result.hpp"
#include "host/report/ledger_table.hpp"
#include "ranks/capture_names.hpp"
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

/// How long a rank waited in collectives, by step.
struct rank_waits {
  std::vector<std::uint64_t> wait_ns;  // for the rank that began last, without the following
  std::vector<std::uint64_t> held_ns;  // for a rank that this profiler held
};

/// The steps of each rank, as many as a page can draw.
class rank_steps {
 public:
  /// `waits` is empty if there are no collectives.
  rank_steps(std::size_t ranks, std::vector<rank_waits> waits);

  /// Call it for one rank after the other. What a rank waited for one that the profiler held is the
  /// profiler's time, and not that of the step.
  void add(report::ledger const& time);
  /// Returns {"shown", "left_out", "of": [{"period_ns": [...], "ns": {bucket: [...]}, "wait_ns":
  /// [...], "held_ns": [...]}]}. Steps that were left out as warm-up have null. Buckets without
  /// time in any step of the rank are left out, and so are waits if there are no collectives or no
  /// rank was held.
  std::string document() const;

 private:
  std::size_t max_steps_;
  std::vector<rank_waits> waits_;
  bool any_held_;
  std::size_t longest_ = 0;
  std::vector<json_members> ranks_;
};

/// Reads the ranks of a job, one capture at a time, for the part of a page that compares them.
class rank_reading {
 public:
  result<void> add(ranked_capture const& capture, std::string const& step_name);

  std::vector<std::string> heading() const { return heading_.lines(); }
  /// Returns a report over ranks, as `gpuprof stats` makes it.
  finished_report report(std::string_view name) const;
  /// Returns `count` captures: the first one, and those of the others whose kernels run for the
  /// longest time.
  std::set<std::size_t> slowest(std::size_t count) const;
  /// By rank. Empty if there are no collectives.
  std::vector<rank_waits> waits() const;

 private:
  std::vector<ranked_capture> captures_;
  std::vector<rank_digest> digests_;
  joined_heading heading_;
};

/// {"remarks", "heading", "analyze": {...}, "reports": {name: table}, "steps": {...}}.
/// `step_name`: as --step takes it; empty: found. The advice is about the steps unless `whole_run`.
result<std::string> rank_document(capture_set const& set, std::string const& step_name,
                                  bool whole_run, rank_reading const& read,
                                  rank_steps const& steps);

}  // namespace gpuprof::host::command
