// SPDX-License-Identifier: Apache-2.0
// The counters of one GPU in intervals of time, aligned: a row of values for each interval; and in
// which of them all that the GPU did has a record.
#pragma once

#include "base/time.hpp"
#include "host/analysis/sampling/sampled_metric.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

struct sample_interval {
  std::uint64_t start = 0, end = 0;  // ns
  double ns() const noexcept { return static_cast<double>(end - start); }
};

/// Rows come in blocks of one metric, in any order. Values are kept with seven digits, more than
/// counters repeat to: memory is 4 bytes for each and some 60 for an interval.
class sample_series {
 public:
  /// A further column.
  std::uint32_t define(std::string_view metric);
  /// False where it would take more than so many places for values; see places().
  bool add(std::uint32_t column, timestamp_ns start, duration_ns duration, double value,
           std::uint64_t max_places = ~std::uint64_t{0});
  /// Intervals times columns that have any value: however few values there are, that is memory.
  std::uint64_t places() const noexcept { return intervals_.size() * used_columns_; }
  /// Puts the intervals in order of time. Nothing but questions and keep() may follow.
  void finish();
  /// Forgets all other intervals; returns how many. `holds`: of a sample_interval.
  template <class Holds>
  std::size_t keep(Holds holds) {
    std::vector<std::uint32_t> kept;
    for (std::uint32_t i = 0; i < intervals_.size(); ++i)
      if (holds(intervals_[i])) kept.push_back(i);
    auto const left_out = intervals_.size() - kept.size();
    if (left_out > 0) arrange(kept);
    return left_out;
  }

  std::size_t size() const noexcept { return intervals_.size(); }
  std::size_t columns() const noexcept { return columns_.size(); }
  std::span<sample_interval const> intervals() const noexcept { return intervals_; }
  sampled_metric const& metric(std::uint32_t column) const noexcept { return columns_[column].use; }
  /// Median length of the intervals in ns; 0 when there are none.
  double typical_interval() const noexcept { return typical_; }

  /// The value made an amount that adds up over time; NaN where there is none.
  double amount(std::size_t sample, std::uint32_t column) const noexcept;
  /// The amount that sums of a mean over active cycles are to be divided by.
  double active_cycles(std::size_t sample) const noexcept;
  /// Of that; only where there is a mean over active cycles that adds up.
  std::uint32_t active_cycles_column() const noexcept { return *active_; }
  /// Whether it can be told at all what belongs to whom.
  bool adds_up(std::uint32_t column) const noexcept;

  /// The interval that holds this moment.
  std::optional<std::size_t> at(std::uint64_t moment) const noexcept;
  /// Whether there is no gap from one interval to the other.
  bool are_joined(std::size_t first, std::size_t last) const noexcept {
    return run_[first] == run_[last];
  }
  /// Whether the stretch shares a moment with an interval.
  bool touches(std::uint64_t start, std::uint64_t end) const noexcept;

 private:
  struct metric_column {
    sampled_metric use;
    std::vector<float> values;  // by interval; none at all where nothing was added
    std::size_t next = 0;       // where the next row of a block belongs, most likely
  };
  /// nullopt where there is no room for a further one.
  std::optional<std::uint32_t> interval_of(metric_column& of, std::uint64_t start,
                                           std::uint64_t end, bool has_room);
  void sort();
  void arrange(std::vector<std::uint32_t> const& order);
  void find_runs();

  std::vector<sample_interval> intervals_;
  std::vector<metric_column> columns_;
  std::optional<std::uint32_t> active_;  // column of sm__cycles_active.avg
  std::unordered_map<std::uint64_t, std::uint32_t> by_start_;
  std::vector<std::uint32_t> run_;  // by interval
  std::uint64_t used_columns_ = 0;
  double typical_ = 0;
};

// When all that a GPU did has a record: in the captures, from the first work in each to the last.

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
