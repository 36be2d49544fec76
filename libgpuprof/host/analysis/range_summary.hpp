// SPDX-License-Identifier: Apache-2.0
// Sums NVTX ranges by name: how long the program spent in them on the CPU, and their time on the
// GPU.
#pragma once

#include "host/analysis/range_tree.hpp"
#include "host/analysis/samples.hpp"

#include <functional>
#include <vector>

namespace gpuprof::host {

struct range_row {
  range_key key;
  statistics time;
};

/// Says whether a range, by its index, is to be counted.
using range_filter = std::function<bool(std::uint32_t)>;

/// Longest total first.
std::vector<range_row> ranges_by_name(range_tree const& tree, range_filter const& keeps = {});

/// Projects NVTX ranges onto the GPU: from the first to the last moment of the work launched in
/// them.
struct projection_row {
  range_key key;
  statistics projected;          // per range: last end of its GPU work minus first start
  std::uint64_t range_time = 0;  // the same ranges on the CPU
  std::uint64_t operations = 0;  // kernels, copies, fills, whole graphs
  double average_level = 0;
  double average_children = 0;  // directly enclosed ranges that have GPU work themselves
};

/// Ranges without GPU work do not appear.
class range_projection {
 public:
  range_projection(range_tree const& tree, open_ranges const& open);

  /// Anything that ran on the GPU: kernel, copy, fill, graph.
  template <class Record>
  void add(Record const& record) {
    add(record.range, record.launched, record.start, record.start + record.duration);
  }

  /// Longest total projected time first. Call once.
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

}  // namespace gpuprof::host
