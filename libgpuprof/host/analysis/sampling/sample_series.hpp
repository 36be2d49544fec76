// SPDX-License-Identifier: Apache-2.0
// The counters of one GPU over time: a row of values for each interval. Also finds the intervals in
// which all GPU work has records.
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

/// Rows come in blocks of one metric, in any order. Values have seven digits, more than counters
/// reproduce. Uses 4 bytes per value and about 60 per interval.
class sample_series {
 public:
  /// Adds a column and returns its index.
  std::uint32_t define(std::string_view metric);
  /// Returns false if the value would need more than `max_places` places; see places().
  bool add(std::uint32_t column, timestamp_ns start, duration_ns duration, double value,
           std::uint64_t max_places = ~std::uint64_t{0});
  /// Number of intervals times columns with any value. Missing values need memory too.
  std::uint64_t places() const noexcept { return intervals_.size() * used_columns_; }
  /// Sorts the intervals by time. After that, only const functions and keep() may be called.
  void finish();
  /// Drops all intervals for which `holds` is false. Returns the number of dropped ones.
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
  /// Median length of the intervals in ns; 0 if there are none.
  double typical_interval() const noexcept { return typical_; }

  /// Returns the value as an amount that adds up over time, or NaN if there is none.
  double amount(std::size_t sample, std::uint32_t column) const noexcept;
  /// Reduces a value of a column whose values are amounts. NaN stays NaN.
  void subtract(std::size_t sample, std::uint32_t column, double amount) noexcept {
    columns_[column].values[sample] -= static_cast<float>(amount);
  }
  /// Returns the divisor for sums of means over active cycles.
  double active_cycles(std::size_t sample) const noexcept;
  /// Its column. Call only if a mean over active cycles adds up.
  std::uint32_t active_cycles_column() const noexcept { return *active_; }
  /// Returns true if values of this column can be attributed to work.
  bool adds_up(std::uint32_t column) const noexcept;

  /// Returns the interval that contains this moment.
  std::optional<std::size_t> at(std::uint64_t moment) const noexcept;
  /// Returns true if there is no gap between the two intervals.
  bool are_joined(std::size_t first, std::size_t last) const noexcept {
    return run_[first] == run_[last];
  }
  /// Returns true if an interval overlaps this time.
  bool touches(std::uint64_t start, std::uint64_t end) const noexcept;

 private:
  struct metric_column {
    sampled_metric use;
    std::vector<float> values;  // by interval; empty if nothing was added
    std::size_t next = 0;       // likely index of the next row of a block
  };
  /// Returns nullopt if there is no room for another interval.
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

// Finds the time in which all GPU work has records: from the first to the last work of each
// capture.

/// Sampling goes on after a capture has ended, and programs are killed. Work without records would
/// be counted as idle time or as the work before it.
class recorded_time {
 public:
  /// Adds a time in which launches were recorded. Without any, all time counts.
  void add_capture(timestamp_ns start, timestamp_ns end);
  /// Records of the last `length` ns before the last one may be missing.
  void end_is_unsure(duration_ns length) { unsure_end_ = length; }

  /// Adds work with a record. Call after all captures.
  void see(timestamp_ns start, duration_ns duration);
  /// Returns true if all work in this interval has records. Call after all work.
  bool holds(sample_interval const& interval) const;

 private:
  struct stretch {
    std::uint64_t start = 0, end = ~std::uint64_t{0};
    std::uint64_t first = ~std::uint64_t{0}, last = 0;  // first start and last end of work
  };
  /// Returns the index of the capture, or captures_.size() if there is none.
  std::size_t at(std::uint64_t moment) const;

  std::vector<stretch> captures_{stretch{}};  // in order
  bool is_all_time_ = true;
  std::uint64_t last_ = 0;
  duration_ns unsure_end_;
};

}  // namespace gpuprof::host
