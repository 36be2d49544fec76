// SPDX-License-Identifier: Apache-2.0
// Sums NVTX ranges by name: their time on the CPU and on the GPU, and the kernels inside them. Also
// sums the kernels outside of all ranges.
#pragma once

#include "host/analysis/inferred_times.hpp"
#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/range_tree.hpp"
#include "host/analysis/samples.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

struct range_row {
  range_key key;
  statistics time;
};

/// Returns true if the range with this index counts.
using range_filter = std::function<bool(std::uint32_t)>;

/// Returns rows with the longest total first.
std::vector<range_row> ranges_by_name(range_tree const& tree, range_filter const& keeps = {});

/// The GPU projection of NVTX ranges: from the start of the first to the end of the last work
/// launched in them.
struct projection_row {
  range_key key;
  statistics projected;          // per range: last end of its GPU work minus first start
  std::uint64_t range_time = 0;  // CPU time of the same ranges
  std::uint64_t operations = 0;  // kernels, copies, fills, whole graphs
  double average_level = 0;
  // mean number of directly enclosed ranges that have GPU work themselves
  double average_children = 0;
};

/// Ranges without GPU work are left out.
class range_projection {
 public:
  range_projection(range_tree const& tree, open_ranges const& open);

  /// Adds anything that ran on the GPU: kernel, copy, fill or graph.
  template <class Record>
  void add(Record const& record) {
    add(record.range, record.launched, record.start, record.start + record.duration);
  }

  /// Returns rows with the longest total projected time first. Call only once.
  std::vector<projection_row> rows(range_filter const& keeps = {});

 private:
  struct extent {
    std::uint64_t first = 0, last = 0;
    std::uint64_t operations = 0;
  };
  void add(range_id innermost, timestamp_ns launched, timestamp_ns start, timestamp_ns end);
  static void widen(extent& of, extent const& by) noexcept;

  range_tree const& tree_;
  open_ranges const& open_;
  std::vector<extent> extents_;  // by range
};

// Sums kernels that were launched outside any NVTX range, and by which threads.

/// Uses the definition of nsys: a kernel is inside the push/pop ranges of its launching thread and
/// inside the start/end ranges of the process.
class outside_ranges {
 public:
  outside_ranges(range_tree const& tree, open_ranges const& open) : tree_(tree), open_(open) {}

  void add(kernel_record const& kernel) {
    auto const ns = nanoseconds(kernel.duration);
    all_ns_ += ns;
    auto const is_inside = tree_.index_of(kernel.range) != no_range ||
                           (kernel.launched.value != 0 && !open_.at(kernel.launched).empty());
    if (is_inside) return;
    ++kernels_;
    ns_by_thread_[kernel.thread] += ns;
  }

  std::uint64_t kernels() const noexcept { return kernels_; }
  /// As a share of the time of all kernels.
  double share() const noexcept {
    std::uint64_t outside = 0;
    for (auto const& [_, ns] : ns_by_thread_) outside += ns;
    return all_ns_ == 0 ? 0 : static_cast<double>(outside) / static_cast<double>(all_ns_);
  }
  /// Returns threads with the longest kernel time first. 0: thread not known.
  std::vector<thread_index> threads() const {
    std::multimap<std::uint64_t, thread_index, std::greater<>> by_time;
    for (auto const& [thread, ns] : ns_by_thread_) by_time.emplace(ns, thread);
    std::vector<thread_index> threads;
    for (auto const& [_, thread] : by_time) threads.push_back(thread);
    return threads;
  }

 private:
  range_tree const& tree_;
  open_ranges const& open_;
  std::map<thread_index, std::uint64_t> ns_by_thread_;
  std::uint64_t kernels_ = 0, all_ns_ = 0;
};

/// Finds the kernels that were launched inside the ranges of each name.
struct range_kernel_row {
  range_key range;
  thread_index thread{};  // thread that opened the range
  std::uint32_t label = 0;
  std::uint64_t range_instances = 0;  // ranges with at least one such kernel
  statistics time;                    // time of the kernels; each counts once
  /// Only if times of the capture were taken from other launches.
  std::optional<inferred_time> inferred = {};
};

/// A kernel belongs to the push/pop ranges that were open on its thread at its launch, and to the
/// start/end ranges open anywhere in the process at that moment. Uses about eight bytes per kernel
/// for each start/end range around it, plus eight for all push/pop ranges.
class range_kernels {
 public:
  range_kernels(range_tree const& tree, open_ranges const& open, kernel_labels const& labels);

  /// `has_own_time`: the duration is not the mean of other launches of its shape.
  void add(kernel_record const& kernel, bool has_own_time = true);
  bool any_inferred() const noexcept { return inferred_.any(); }

  /// Returns rows sorted by range name as `name_of` spells it, then thread, then longest total
  /// first.
  std::vector<range_kernel_row> rows(std::function<std::string(range_key)> const& name_of);

 private:
  struct path_key {  // identifies the ranges on one line of the report
    range_key range;
    thread_index thread{};
    friend auto operator<=>(path_key const&, path_key const&) = default;
  };
  struct range_path {  // a range name with all enclosing ones
    std::uint32_t parent = no_range;
    path_key key;
  };
  struct path_kernels {  // the kernels of one label launched directly under one path
    std::uint32_t path = 0;
    std::uint32_t label = 0;
    samples durations;
    std::vector<std::uint32_t> instances;  // innermost ranges, with possible repeats
  };
  void enclosing(std::vector<std::uint32_t> const& ranges, std::uint32_t steps,
                 std::vector<std::uint32_t>& out) const;
  void note(std::uint32_t range, kernel_record const& kernel);

  range_tree const& tree_;
  open_ranges const& open_;
  kernel_labels const& labels_;
  std::vector<range_path> paths_;
  std::vector<std::uint32_t> path_of_range_;
  std::vector<path_kernels> cells_;
  inferred_times inferred_;                                   // lines are cells
  std::vector<std::uint32_t> noted_;                          // the cells of one kernel
  std::unordered_map<std::uint64_t, std::uint32_t> cell_of_;  // path and label -> cell
};

}  // namespace gpuprof::host
