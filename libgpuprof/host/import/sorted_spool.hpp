// SPDX-License-Identifier: Apache-2.0
// Takes rows in any order and returns them sorted, in bounded memory: runs are sorted, stored in a
// file and merged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuprof::host {

// An unnamed file for data that does not fit into memory. It disappears with the process.

/// The file is created at the first write. append() and read() throw import_failure.
class spool_file {
 public:
  explicit spool_file(std::string folder) : folder_(std::move(folder)) {}
  ~spool_file();
  spool_file(spool_file const&) = delete;
  spool_file& operator=(spool_file const&) = delete;

  /// Returns the position in the file.
  std::uint64_t append(std::span<std::byte const> bytes);
  void read(std::uint64_t from, std::span<std::byte> into) const;

 private:
  void open();

  std::string const folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// `Before` compares two rows; equal ones keep the order in which they came.
template <class Row, class Before>
class sorted_spool {
  static_assert(std::is_trivially_copyable_v<Row>);

 public:
  explicit sorted_spool(std::string const& folder) : file_(folder) {}

  void add(Row const& row) {
    in_order_ = in_order_ && (waiting_.empty() || !Before{}(row, waiting_.back()));
    waiting_.push_back(row);
    ++size_;
    if (waiting_.size() == run_rows) cut();
  }

  std::uint64_t size() const noexcept { return size_; }

  /// Passes all rows to `take` once; then the spool is empty.
  template <class Take>
  void drain(Take take) {
    if (runs_.empty()) {
      sort_waiting();
      for (auto const& row : waiting_) take(row);
    } else {
      if (!waiting_.empty()) cut();
      waiting_ = {};
      merge(take);
    }
    waiting_ = {};
    runs_ = {};
    size_ = 0;
  }

 private:
  static constexpr std::size_t run_rows = 1 << 17;
  static constexpr std::size_t window_rows = 256;

  struct run {
    std::uint64_t at = 0;     // position in the file of the rows not yet in `window`
    std::uint64_t ahead = 0;  // number of these rows
    std::vector<Row> window;
    std::size_t next = 0;
    Row const& front() const { return window[next]; }
  };

  void sort_waiting() {
    if (!in_order_) std::stable_sort(waiting_.begin(), waiting_.end(), Before{});
    in_order_ = true;
  }

  void cut() {
    sort_waiting();
    auto const at = file_.append(std::as_bytes(std::span<Row const>(waiting_)));
    runs_.push_back({.at = at, .ahead = waiting_.size(), .window = {}});
    waiting_.clear();
  }

  /// Returns false at the end of the run.
  bool fill(run& of) {
    of.next = 0;
    of.window.resize(std::min<std::uint64_t>(of.ahead, window_rows));
    if (of.window.empty()) return false;
    file_.read(of.at, std::as_writable_bytes(std::span<Row>(of.window)));
    of.at += of.window.size() * sizeof(Row);
    of.ahead -= of.window.size();
    return true;
  }

  template <class Take>
  void merge(Take take) {
    std::vector<std::uint32_t> heap;
    auto const later = [&](std::uint32_t a, std::uint32_t b) {
      if (Before{}(runs_[b].front(), runs_[a].front())) return true;
      return !Before{}(runs_[a].front(), runs_[b].front()) && b < a;
    };
    for (std::uint32_t i = 0; i < runs_.size(); ++i)
      if (fill(runs_[i])) heap.push_back(i);
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      auto const at = heap.back();
      auto& from = runs_[at];
      // Runs of rows that came almost in order hardly overlap, so stay with this run while its row
      // is the first.
      do {
        take(from.front());
        if (++from.next == from.window.size() && !fill(from)) break;
      } while (heap.size() == 1 || !later(at, heap.front()));
      if (from.window.empty())
        heap.pop_back();
      else
        std::push_heap(heap.begin(), heap.end(), later);
    }
  }

  spool_file file_;
  std::vector<Row> waiting_;
  std::vector<run> runs_;
  std::uint64_t size_ = 0;
  bool in_order_ = true;
};

}  // namespace gpuprof::host
