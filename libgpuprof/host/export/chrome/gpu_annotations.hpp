// SPDX-License-Identifier: Apache-2.0
// Ranges of the program as they show on the GPU: from the first to the last work launched in them.
#pragma once

#include "host/export/chrome/cpu_events.hpp"
#include "host/export/chrome/event_writer.hpp"
#include "host/export/chrome/gpu_rows.hpp"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace gpuprof::chrome {

/// On each row that has work of a range, as Kineto does it.
class gpu_annotations {
 public:
  explicit gpu_annotations(trace_contents& trace);

  template <class Work>
  void see(Work const& work, track row) {
    if (!is_on_) return;
    auto const range = trace_->launched(range_scope::process).innermost(work);
    if (range != no_range) see(range, row, work.start.value, (work.start + work.duration).value);
  }
  void write(event_writer& to, quoted_names& names, gpu_rows& rows);

  /// There are more ranges than it keeps in memory: none is written.
  bool left_out() const noexcept { return !is_on_; }

 private:
  struct extent {
    std::uint64_t first = 0, last = 0;
  };
  struct placed {
    std::uint32_t range = 0, row = 0;
    extent at;
  };
  void see(std::uint32_t range, track row, std::uint64_t first, std::uint64_t last);
  std::vector<placed> with_parents();
  std::uint32_t number_of(track row);

  trace_contents* trace_;
  bool is_on_ = false;
  std::vector<track> rows_;
  std::uint32_t last_row_ = 0;
  std::unordered_map<std::uint64_t, extent> extents_;  // by range and number of the row
};

}  // namespace gpuprof::chrome
