// SPDX-License-Identifier: Apache-2.0
// Finds launches that repeat in one order: what a CUDA graph would launch at once.
#pragma once

#include "host/analysis/timeline/gpu_item.hpp"

#include <cstdint>
#include <deque>
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

}  // namespace gpuprof::host
