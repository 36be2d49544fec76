// SPDX-License-Identifier: Apache-2.0
// Launches whose order costs time: those that repeat in one order, which a CUDA graph would launch
// at once, and those of two streams that the legacy default stream kept apart.
#pragma once

#include "host/analysis/range_tree.hpp"
#include "host/analysis/timeline/gpu_item.hpp"
#include "host/analysis/timeline/launch_pace.hpp"
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
  double run_ns = 0;   // from the first start to the last end, of all repetitions
  double busy_ns = 0;  // of that
  /// From one repetition to the next, where nothing lies between the two: no wait, no other launch.
  double between_ns = 0;
  bool has_waits = false;
};

/// Feed the kernels of each stream in order of their start. Keeps 16 bytes a kernel.
class launch_sequences {
 public:
  /// `after_wait`: the program waited, allocated, or copied from pageable memory just before.
  void add(gpu_item const& kernel, bool after_wait);
  /// Of each stream the one that takes most time, if it has five launches and repeats ten times.
  std::vector<launch_sequence> found() const;

 private:
  struct launch {
    std::uint64_t start = 0;
    std::uint32_t ns = 0;
    std::uint32_t subject : 31 = 0;
    std::uint32_t after_wait : 1 = 0;
  };
  using launches = std::deque<launch>;
  class cut;  // a stream, cut into pieces at each launch of one kind

  std::unordered_map<std::uint64_t, launches> streams_;
};

/// Finds work of two streams that the legacy default stream kept apart.
struct serialized_sum {
  std::uint64_t count = 0;
  double waited_ns = 0;  // the second piece of work was launched, and the first ran
  /// Of that: the shorter of the two and what stood between them, where the GPU has room for both.
  double overlap_ns = 0;
  time_by_range ranges;  // of the second, by waited_ns
};

/// Work of the legacy default stream waits for all streams, and they wait for it. CUPTI gives that
/// of a process's first context the number 7; those of other contexts are not known.
class serialized_streams {
 public:
  /// `fits_beside`: two kernels, by shape, have room on a GPU at once.
  using fits = std::function<bool(device_id, std::uint32_t, std::uint32_t)>;
  explicit serialized_streams(fits fits_beside) : fits_beside_(std::move(fits_beside)) {}

  /// Kernels in order of their start. `range`: in which it was launched.
  void add(gpu_item const& kernel, std::optional<range_key> const& range, pace const& run);
  std::map<device_id, serialized_sum> const& sums() const noexcept { return sums_; }

 private:
  struct recent {
    gpu_item first, barrier;  // of one stream, then of the default stream
    bool has_first = false, has_barrier = false;
  };

  fits fits_beside_;
  std::map<device_id, recent> recent_;
  std::map<device_id, serialized_sum> sums_;
};

}  // namespace gpuprof::host
