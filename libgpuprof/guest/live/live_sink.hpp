// SPDX-License-Identifier: Apache-2.0
// Passes records on to the live statistics, and adds to work the range it counts in.
#pragma once

#include "guest/live/recent_ranges.hpp"
#include "model/record_sink.hpp"

#include <span>
#include <vector>

namespace gpuprof::guest {

/// The capture file keeps records unchanged: there, a launch of a thread without ranges has no
/// range.
class live_sink final : public record_sinks {
 public:
  using record_sinks::add;
  using record_sinks::record_sinks;

  /// Launches of threads without ranges count in the ranges of this thread.
  void main_thread_is(thread_index thread) noexcept { open_ranges_.main_thread_is(thread); }

  void add(range_begin const& range) override {
    open_ranges_.begin(range);
    record_sinks::add(range);
  }
  void add(range_end const& range) override {
    open_ranges_.end(range);
    record_sinks::add(range);
  }
  void add(graph_record const& graph) override { record_sinks::add(in_its_range(graph)); }
  void add(copy_record const& copy) override { record_sinks::add(in_its_range(copy)); }
  void add(memset_record const& fill) override { record_sinks::add(in_its_range(fill)); }
  void add(std::span<kernel_record const> kernels) override {
    kernels_.assign(kernels.begin(), kernels.end());
    for (auto& kernel : kernels_) find_range(kernel);
    record_sinks::add(std::span<kernel_record const>(kernels_));
  }

 private:
  template <class Record>
  void find_range(Record& work) const noexcept {
    if (raw(work.range) == 0) work.range = open_ranges_.innermost(work.launched);
  }
  template <class Record>
  Record in_its_range(Record work) const noexcept {
    find_range(work);
    return work;
  }

  recent_open_ranges open_ranges_;
  std::vector<kernel_record> kernels_;
};

}  // namespace gpuprof::guest
