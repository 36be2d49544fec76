// SPDX-License-Identifier: Apache-2.0
// What a page says of the ranks of a job beside each other: what `analyze` and `stats` say of
// several captures, and the time of each step on each rank.
#pragma once

#include "base/result.hpp"
#include "host/report/ledger_table.hpp"
#include "ranks/capture_set.hpp"
#include "report_page/json_members.hpp"
#include "report_page/rank_reading.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof {

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

/// {"remarks", "heading", "analyze": {...}, "reports": {name: table}, "steps": {...}}.
result<std::string> rank_document(capture_set const& set, std::string const& step_name,
                                  rank_reading const& read, rank_steps const& steps);

}  // namespace gpuprof
