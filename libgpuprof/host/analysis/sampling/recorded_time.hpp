// SPDX-License-Identifier: Apache-2.0
// When all that a GPU did has a record: in the captures, from the first work in each to the last.
#pragma once

#include "host/analysis/sampling/sample_series.hpp"

#include <cstdint>
#include <vector>

namespace gpuprof::host {

/// Samples go on after a capture has ended, and programs are killed. What runs then is recorded
/// nowhere; taken for idle time, or given to what ran just before, it would spoil both.
class recorded_time {
 public:
  /// Stretches of time in which launches were recorded; without any, all time.
  void add_capture(timestamp_ns start, timestamp_ns end);
  /// Records of the last so many ns before the last one may be missing.
  void end_is_unsure(duration_ns length) { unsure_end_ = length; }

  /// Work with a record; after all captures.
  void see(timestamp_ns start, duration_ns duration);
  /// After all work: whether nothing that ran in this interval lacks a record.
  bool holds(sample_interval const& interval) const;

 private:
  struct stretch {
    std::uint64_t start = 0, end = ~std::uint64_t{0};
    std::uint64_t first = ~std::uint64_t{0}, last = 0;  // moments of work
  };
  /// The index of the capture; as many as there are: none.
  std::size_t at(std::uint64_t moment) const;

  std::vector<stretch> captures_{stretch{}};  // in order
  bool is_all_time_ = true;
  std::uint64_t last_ = 0;
  duration_ns unsure_end_;
};

}  // namespace gpuprof::host
