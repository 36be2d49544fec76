// SPDX-License-Identifier: Apache-2.0
// The rows of one table of a capture in order of their time, a few blocks in memory at once.
#pragma once

#include "capture/reader.hpp"
#include "host/reading/time_order.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// Rows stand in a file as buffers came back, so those of several streams and threads overlap. A
/// first look takes the earliest time of each block, unless an earlier pass has noted it in the
/// reader; a block is then read when its turn has come, and forgotten when its last row has gone.
/// Rows of one time come in file order. With `stretches` there are only the rows that begin within
/// one of them; blocks without any are not read.
///
///   ordered_rows<kernel_record> kernels(trace.file());
///   while (auto const* kernel = kernels.next()) write(*kernel);
template <class Row>
class ordered_rows {
 public:
  /// The reader outlives it. `wanted`: columns to decode, beside the time.
  explicit ordered_rows(capture::reader& file, capture::column_set<Row> wanted = {},
                        time_stretches stretches = {})
      : file_(&file), wanted_(wanted), stretches_(std::move(stretches)) {
    wanted_.insert(time_member<Row>());
    find_begins();
  }

  /// As of a table without rows.
  static ordered_rows none(capture::reader& file) { return ordered_rows(&file); }

  /// Null at the end. Valid until the next call.
  Row const* next() {
    auto const* const row = peek();
    if (row == nullptr) return nullptr;
    current_ = *row;
    advance();
    return &current_;
  }

  /// After peek() has given a row: goes on to the next one.
  void skip() { advance(); }

  /// The row that next() will give; null at the end. Valid until the next row is asked for.
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
  /// For a heap whose front is the earliest row.
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
    std::optional<capture::block_times> times;  // of a damaged block there are none
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
    if (opened.rows.empty()) return;  // damaged, or nothing within the stretches
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
      if (!is_behind_others(front)) return;  // the common case: nothing overlaps
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
  std::vector<begin_of_block> begins_;  // by time
  std::size_t next_block_ = 0;
  std::vector<open_block> active_;  // a heap, the earliest row in front
  std::vector<Row> spare_;          // memory of the last one
  Row current_{};
};

}  // namespace gpuprof::host
