// SPDX-License-Identifier: Apache-2.0
// Finds launches whose order costs time: launches that repeat in the same order, which a CUDA graph
// could launch at once, and work of two streams that the legacy default stream serialized.
#pragma once

#include "host/analysis/range_tree.hpp"
#include "host/analysis/timeline/gpu_item.hpp"
#include "host/analysis/timeline/launch_pace.hpp"
#include "host/analysis/timeline/recent_map.hpp"
#include "host/analysis/timeline/work_tables.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

struct launch_sequence {
  std::vector<std::uint32_t> first_subjects;  // shapes of its first launches, at most eight
  std::size_t length = 0;
  std::uint64_t repetitions = 0;
  double run_ns = 0;   // from the first start to the last end, summed over repetitions
  double busy_ns = 0;  // busy part of `run_ns`
  /// Time between two repetitions that directly follow each other, without a wait or another
  /// launch.
  double between_ns = 0;
  bool has_waits = false;
};

/// The caller must add the kernels of each stream in order of start. Uses 16 bytes per kernel.
class launch_sequences {
 public:
  /// `after_wait`: the program waited, allocated or copied from pageable memory just before.
  void add(gpu_item const& kernel, bool after_wait);
  /// Returns the sequence of each stream that takes most time, if it has at least five launches and
  /// ten repetitions.
  std::vector<launch_sequence> found() const;

 private:
  struct launch {
    std::uint64_t start = 0;
    std::uint32_t ns = 0;
    std::uint32_t subject : 31 = 0;
    std::uint32_t after_wait : 1 = 0;
  };
  using launches = std::deque<launch>;
  class cut;  // a stream, divided at each launch of one kind

  recent_map<std::uint64_t, launches> streams_;
};

/// Finds work of two streams that the legacy default stream serialized.
struct serialized_sum {
  std::uint64_t count = 0;
  double waited_ns = 0;  // time in which the second piece was launched and the first still ran
  /// Part of `waited_ns` that would be saved: at most the shorter of both plus the work between
  /// them, if the GPU has room for both.
  double overlap_ns = 0;
  time_by_range ranges;  // ranges of the second piece, by waited_ns
};

/// Work of the legacy default stream waits for all streams, and they wait for it. CUPTI gives it
/// the number 7 in a process's first context; its numbers in other contexts are not known.
class serialized_streams {
 public:
  /// `fits_beside` returns true if two kernels, given by shape, fit on a GPU at the same time.
  using fits = std::function<bool(device_id, std::uint32_t, std::uint32_t)>;
  explicit serialized_streams(fits fits_beside) : fits_beside_(std::move(fits_beside)) {}

  /// Kernels must come in order of start. `range` is the range that launched it.
  void add(gpu_item const& kernel, std::optional<range_key> const& range, pace const& run);
  std::map<device_id, serialized_sum> const& sums() const noexcept { return sums_; }

 private:
  struct recent {
    gpu_item first, barrier;  // work of one stream, then work of the default stream
    bool has_first = false, has_barrier = false;
  };

  fits fits_beside_;
  std::map<device_id, recent> recent_;
  std::map<device_id, serialized_sum> sums_;
};

}  // namespace gpuprof::host
