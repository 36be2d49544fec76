// SPDX-License-Identifier: Apache-2.0
// The kernels that were launched outside any NVTX range, and by which threads.
#pragma once

#include "host/analysis/range_tree.hpp"
#include "host/analysis/samples.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace gpuprof::host {

/// As nsys has it: a kernel is inside the push/pop ranges of the thread that launched it, and
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
  /// Of the time of all kernels.
  double share() const noexcept {
    std::uint64_t outside = 0;
    for (auto const& [_, ns] : ns_by_thread_) outside += ns;
    return all_ns_ == 0 ? 0 : static_cast<double>(outside) / static_cast<double>(all_ns_);
  }
  /// Those whose kernels took longest first; 0: not known.
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

}  // namespace gpuprof::host
