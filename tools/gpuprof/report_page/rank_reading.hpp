// SPDX-License-Identifier: Apache-2.0
// Reads the ranks of a job, one capture open at a time, for the part of a page that shows them
// beside each other.
#pragma once

#include "base/result.hpp"
#include "ranks/capture_set.hpp"
#include "ranks/joined_heading.hpp"
#include "ranks/rank_digest.hpp"
#include "stats_output.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof {

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

}  // namespace gpuprof
