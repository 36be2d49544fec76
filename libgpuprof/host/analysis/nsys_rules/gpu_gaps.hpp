// SPDX-License-Identifier: Apache-2.0
// Finds the stretches between first and last work of each GPU in which it ran nothing.
#pragma once

#include "host/analysis/nsys_rules/rule_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace gpuprof::host::nsys_rules {

/// Keeps the longest of any number of rows in memory for twice as many as are wanted.
///
/// Row has `duration` and `start`; of rows of one length the earlier comes first.
template <class Row>
class longest_rows {
 public:
  /// Nothing: all.
  explicit longest_rows(std::optional<std::size_t> wanted) : wanted_(wanted) {}

  void add(Row const& row) {
    if (wanted_ == std::size_t{0}) return;
    rows_.push_back(row);
    if (wanted_ && rows_.size() >= 2 * *wanted_ + 64) shorten();
  }
  /// Longest first.
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

/// nsys pairs the k-th end with the (k+1)-th start: those are the gaps of the union.
class gpu_gaps {
 public:
  gpu_gaps(std::uint64_t longer_than_ns, std::optional<std::size_t> rows)
      : limit_(longer_than_ns), found_(rows) {}

  /// In order of the starts.
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
  /// Longest first.
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

}  // namespace gpuprof::host::nsys_rules
