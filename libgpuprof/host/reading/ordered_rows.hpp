// SPDX-License-Identifier: Apache-2.0
// Reads the rows of one table of a capture in order of time, with a few blocks in memory at once.
#pragma once

#include "capture/reader.hpp"
#include "host/reading/merged_blocks.hpp"
#include "host/reading/time_order.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// Rows are in the file in the order in which buffers were returned, so rows of different streams
/// and threads overlap. The constructor reads the earliest time of each block, unless an earlier
/// pass stored it in the reader. A block is read when its first row is due and dropped after its
/// last row. Rows with equal times keep the file order. With `stretches`, returns only rows that
/// begin inside one of them and skips other blocks.
///
///   ordered_rows<kernel_record> kernels(trace.file());
///   while (auto const* kernel = kernels.next()) write(*kernel);
template <class Row>
class ordered_rows {
 public:
  /// The reader must outlive this object. `wanted`: columns to decode in addition to the time.
  explicit ordered_rows(capture::reader& file, capture::column_set<Row> wanted = {},
                        time_stretches stretches = {})
      : file_(&file), wanted_(wanted), stretches_(std::move(stretches)) {
    wanted_.insert(time_member<Row>());
    find_begins();
  }

  /// Behaves like a table without rows.
  static ordered_rows none(capture::reader& file) { return ordered_rows(&file); }

  /// Returns null at the end. The row is valid until the next call.
  Row const* next() {
    auto const* const row = peek();
    if (row == nullptr) return nullptr;
    current_ = *row;
    merged_.skip();
    return &current_;
  }

  /// Moves to the next row. Call only after peek() has returned a row.
  void skip() { merged_.skip(); }

  /// Returns the row that next() will return, or null at the end. It is valid until the next call.
  Row const* peek() {
    while (next_block_ < begins_.size() &&
           (merged_.empty() || begins_[next_block_].first <= time_of(merged_.front())))
      open(begins_[next_block_++].block);
    return merged_.empty() ? nullptr : &merged_.front();
  }

 private:
  explicit ordered_rows(capture::reader* file) : file_(file) {}

  struct begin_of_block {
    timestamp_ns first;
    std::size_t block = 0;
  };
  void find_begins() {
    for (auto const block : file_->template blocks_of<Row>()) {
      if (!file_->times_of(block)) note_times(block);
      auto const& times = file_->times_of(block);
      if (times && may_begin_within(*times)) begins_.push_back({times->first, block});
    }
    std::stable_sort(begins_.begin(), begins_.end(),
                     [](auto const& a, auto const& b) { return a.first < b.first; });
  }

  void note_times(std::size_t block) {
    std::optional<capture::block_times> times;  // stays empty for a damaged block
    file_->template for_each_in<Row>(
        block, [&](std::span<Row const> rows) { widen(times, rows); },
        capture::only(time_member<Row>()));
    if (times) file_->note_times(block, *times);
  }

  bool may_begin_within(capture::block_times const& times) const noexcept {
    return stretches_.empty() ||
           std::any_of(stretches_.begin(), stretches_.end(), [&](time_stretch const& one) {
             return one.begin <= times.last && times.first < one.end;
           });
  }

  void open(std::size_t block) {
    auto rows = merged_.take_spare();
    file_->template for_each_in<Row>(
        block,
        [&](std::span<Row const> some) { rows.insert(rows.end(), some.begin(), some.end()); },
        wanted_);
    if (!stretches_.empty())
      std::erase_if(rows, [&](Row const& row) { return !is_within(time_of(row), stretches_); });
    merged_.add(block, std::move(rows));  // no rows: damaged, or none inside the stretches
  }

  capture::reader* file_;
  capture::column_set<Row> wanted_;
  time_stretches stretches_;
  std::vector<begin_of_block> begins_;  // sorted by time
  std::size_t next_block_ = 0;
  merged_blocks<Row> merged_;  // of the blocks that are open
  Row current_{};
};

}  // namespace gpuprof::host
