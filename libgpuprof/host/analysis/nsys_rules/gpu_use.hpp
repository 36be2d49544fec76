// SPDX-License-Identifier: Apache-2.0
// Shows how well each GPU is used between its first and its last work: gaps in which it ran
// nothing, and chunks of time in which it ran little.
#pragma once

#include "host/analysis/nsys_rules/rule_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace gpuprof::host::nsys_rules {

// Finds the gaps between the first and last work of each GPU in which it ran nothing.

/// Keeps the longest of any number of rows, in memory for about twice the wanted number.
///
/// Row must have `duration` and `start`. If durations are equal, the earlier row comes first.
template <class Row>
class longest_rows {
 public:
  /// `wanted` empty: keeps all rows.
  explicit longest_rows(std::optional<std::size_t> wanted) : wanted_(wanted) {}

  void add(Row const& row) {
    if (wanted_ == std::size_t{0}) return;
    rows_.push_back(row);
    if (wanted_ && rows_.size() >= 2 * *wanted_ + 64) shorten();
  }
  /// Returns the longest rows first.
  std::vector<Row> take() {
    std::sort(rows_.begin(), rows_.end(), is_before);
    if (wanted_ && rows_.size() > *wanted_) rows_.erase(at(*wanted_), rows_.end());
    return std::move(rows_);
  }

 private:
  static bool is_before(Row const& a, Row const& b) noexcept {
    return a.duration != b.duration ? a.duration > b.duration : a.start < b.start;
  }
  auto at(std::size_t index) { return rows_.begin() + static_cast<std::ptrdiff_t>(index); }
  void shorten() {
    std::nth_element(rows_.begin(), at(*wanted_), rows_.end(), is_before);
    rows_.erase(at(*wanted_), rows_.end());
  }

  std::optional<std::size_t> wanted_;
  std::vector<Row> rows_;
};

/// nsys pairs the k-th end with the (k+1)-th start, which gives the gaps of the union.
class gpu_gaps {
 public:
  gpu_gaps(std::uint64_t longer_than_ns, std::optional<std::size_t> rows)
      : limit_(longer_than_ns), found_(rows) {}

  /// The caller must add work in order of start.
  void add(gpu_work const& work) {
    auto const [at, is_first] = busy_.try_emplace(work.device, until{work.end, work.context});
    if (is_first) return;
    auto& busy = at->second;
    if (work.start > busy.end) {
      auto const ns = static_cast<std::uint64_t>((work.start - busy.end).value);
      if (ns > limit_) found_.add({ns, busy.end, work.device, busy.context});
    }
    if (work.end > busy.end) busy = {work.end, work.context};
  }
  /// Returns the longest rows first.
  std::vector<gap_row> take() { return found_.take(); }

 private:
  struct until {
    timestamp_ns end;
    context_id context{};
  };
  std::uint64_t limit_;
  std::map<device_id, until> busy_;
  longest_rows<gap_row> found_;
};

/// The caller must pass all work to find_extent(), then all again to add(), in any order.
/// Concurrent work can add up to more than 100 %.
class gpu_time_use {
 public:
  explicit gpu_time_use(unsigned chunks) : chunks_(chunks) {}

  void find_extent(gpu_work const& work);
  void add(gpu_work const& work);
  /// Returns chunks below the threshold, least used first. Neighbors are merged into one row with
  /// their mean.
  std::vector<use_row> below(double percent) const;

 private:
  struct of_device {
    timestamp_ns begin, end;
    context_id context{};
    std::uint64_t chunk_ns = 0;
    std::vector<double> busy_ns;  // by chunk
  };
  void add_rows(device_id device, of_device const& of, double percent,
                std::vector<use_row>& rows) const;

  unsigned chunks_;
  std::map<device_id, of_device> devices_;
};

}  // namespace gpuprof::host::nsys_rules
