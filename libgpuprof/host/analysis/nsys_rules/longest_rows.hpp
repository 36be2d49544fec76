// SPDX-License-Identifier: Apache-2.0
// Keeps the longest of any number of rows in memory for twice as many as are wanted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace gpuprof::nsys_rules {

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

}  // namespace gpuprof::nsys_rules
