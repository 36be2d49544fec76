// SPDX-License-Identifier: Apache-2.0
// Merges the rows of several blocks of a table in order of time.
#pragma once

#include "host/reading/time_order.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// Rows with equal times come in the order of their blocks, and keep their order inside a block.
template <class Row>
class merged_blocks {
 public:
  /// Sorts the rows if they are not in order of time. `block` is the number of the block in the
  /// file. Without rows nothing is added.
  void add(std::size_t block, std::vector<Row> rows) {
    if (rows.empty()) return;
    auto const is_before = [](Row const& a, Row const& b) { return time_of(a) < time_of(b); };
    if (!std::is_sorted(rows.begin(), rows.end(), is_before))
      std::stable_sort(rows.begin(), rows.end(), is_before);
    blocks_.push_back({block, 0, std::move(rows)});
    std::push_heap(blocks_.begin(), blocks_.end(), is_later);
  }

  bool empty() const noexcept { return blocks_.empty(); }
  /// The earliest row. It is valid until the next call of skip() or add().
  Row const& front() const noexcept { return blocks_.front().row(); }

  /// Removes the earliest row.
  void skip() {
    auto& first = blocks_.front();
    auto const was_last = first.at + 1 == first.rows.size();
    if (!was_last) {
      ++first.at;
      if (!is_behind_others(first)) return;  // the common case: blocks do not overlap
      --first.at;
    }
    std::pop_heap(blocks_.begin(), blocks_.end(), is_later);
    if (was_last) {
      spare_ = std::move(blocks_.back().rows);
      blocks_.pop_back();
    } else {
      ++blocks_.back().at;
      std::push_heap(blocks_.begin(), blocks_.end(), is_later);
    }
  }

  /// Returns the memory of the last block that ended, without rows.
  std::vector<Row> take_spare() {
    auto rows = std::move(spare_);
    rows.clear();
    return rows;
  }

 private:
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
  bool is_behind_others(open_block const& first) const noexcept {
    return (blocks_.size() > 1 && is_later(first, blocks_[1])) ||
           (blocks_.size() > 2 && is_later(first, blocks_[2]));
  }

  std::vector<open_block> blocks_;  // a heap with the earliest row in front
  std::vector<Row> spare_;
};

/// Gives rows in order of time while their blocks come in file order, with bounded memory.
///
/// Blocks overlap by some buffers of CUPTI, so a row is given out after `kept` further rows have
/// come. A row that comes later than that cannot be put in order, and add() says so.
///
///   if (!rows.add(block)) ...;
///   for (; rows.peek() != nullptr; rows.skip()) write(*rows.peek());
template <class Row>
class time_sorter {
 public:
  explicit time_sorter(std::size_t kept) : kept_(kept) {}

  /// Returns false if one of the rows begins before a row that was given out.
  bool add(std::vector<Row> block) {
    count_ += block.size();
    merged_.add(next_block_++, std::move(block));
    return merged_.empty() || given_out_ <= time_of(merged_.front());
  }
  /// There are no more blocks.
  void end() noexcept { kept_ = 0; }

  /// Returns the next row, or null if more blocks are needed or no row is left.
  Row const* peek() const noexcept { return count_ > kept_ ? &merged_.front() : nullptr; }
  /// Removes the row that peek() returned.
  void skip() {
    given_out_ = time_of(merged_.front());
    merged_.skip();
    --count_;
  }

 private:
  merged_blocks<Row> merged_;
  std::size_t kept_;
  std::size_t count_ = 0;  // rows that were not given out
  std::size_t next_block_ = 0;
  timestamp_ns given_out_;  // the time of the last one
};

}  // namespace gpuprof::host
