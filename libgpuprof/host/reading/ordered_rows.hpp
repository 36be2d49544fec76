// SPDX-License-Identifier: Apache-2.0
// Reads the rows of one table of a capture in order of time, with a few blocks in memory at once.
#pragma once

#include "capture/reader.hpp"
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
    advance();
    return &current_;
  }

  /// Moves to the next row. Call only after peek() has returned a row.
  void skip() { advance(); }

  /// Returns the row that next() will return, or null at the end. It is valid until the next call.
  Row const* peek() {
    while (next_block_ < begins_.size() &&
           (active_.empty() || begins_[next_block_].first <= time_of(active_.front().row())))
      open(begins_[next_block_++].block);
    return active_.empty() ? nullptr : &active_.front().row();
  }

 private:
  explicit ordered_rows(capture::reader* file) : file_(file) {}

  struct begin_of_block {
    timestamp_ns first;
    std::size_t block = 0;
  };
  struct open_block {
    std::size_t block = 0;
    std::size_t at = 0;
    std::vector<Row> rows;
    Row const& row() const noexcept { return rows[at]; }
  };
  /// Order for a heap with the earliest row in front.
  static bool is_later(open_block const& a, open_block const& b) noexcept {
    auto const x = time_of(a.row()), y = time_of(b.row());
    return x != y ? x > y : a.block > b.block;
  }

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
    open_block opened{block, 0, std::move(spare_)};
    opened.rows.clear();
    file_->template for_each_in<Row>(
        block,
        [&](std::span<Row const> rows) {
          opened.rows.insert(opened.rows.end(), rows.begin(), rows.end());
        },
        wanted_);
    if (!stretches_.empty())
      std::erase_if(opened.rows,
                    [&](Row const& row) { return !is_within(time_of(row), stretches_); });
    if (opened.rows.empty()) return;  // damaged, or no row inside the stretches
    auto const is_before = [](Row const& a, Row const& b) { return time_of(a) < time_of(b); };
    if (!std::is_sorted(opened.rows.begin(), opened.rows.end(), is_before))
      std::stable_sort(opened.rows.begin(), opened.rows.end(), is_before);
    active_.push_back(std::move(opened));
    std::push_heap(active_.begin(), active_.end(), is_later);
  }

  void advance() {
    auto& front = active_.front();
    auto const was_last = front.at + 1 == front.rows.size();
    if (!was_last) {
      ++front.at;
      if (!is_behind_others(front)) return;  // the common case: blocks do not overlap
      --front.at;
    }
    std::pop_heap(active_.begin(), active_.end(), is_later);
    if (was_last) {
      spare_ = std::move(active_.back().rows);
      active_.pop_back();
    } else {
      ++active_.back().at;
      std::push_heap(active_.begin(), active_.end(), is_later);
    }
  }
  bool is_behind_others(open_block const& front) const noexcept {
    return (active_.size() > 1 && is_later(front, active_[1])) ||
           (active_.size() > 2 && is_later(front, active_[2]));
  }

  capture::reader* file_;
  capture::column_set<Row> wanted_;
  time_stretches stretches_;
  std::vector<begin_of_block> begins_;  // sorted by time
  std::size_t next_block_ = 0;
  std::vector<open_block> active_;  // a heap with the earliest row in front
  std::vector<Row> spare_;          // memory of the last closed block
  Row current_{};
};

}  // namespace gpuprof::host
