// SPDX-License-Identifier: Apache-2.0
// Finds the stretches between first and last work of each GPU in which it ran nothing.
#pragma once

#include "host/analysis/nsys_rules/longest_rows.hpp"
#include "host/analysis/nsys_rules/rule_rows.hpp"

#include <map>

namespace gpuprof::nsys_rules {

/// nsys pairs the k-th end with the (k+1)-th start: those are the gaps of the union.
class gpu_gaps {
 public:
  gpu_gaps(std::uint64_t longer_than_ns, std::optional<std::size_t> rows)
      : limit_(longer_than_ns), found_(rows) {}

  /// In order of the starts.
  void add(gpu_work const& work) {
    auto const [at, is_first] = busy_.try_emplace(work.device, until{work.end, work.context});
    if (is_first) return;
    auto& busy = at->second;
    if (work.start > busy.end) {
      auto const ns = static_cast<std::uint64_t>((work.start - busy.end).value);
      if (ns > limit_) found_.add({ns, busy.end, work.device, busy.context});
    }
    if (work.end > busy.end) busy = {work.end, work.context};
  }
  /// Longest first.
  std::vector<gap_row> take() { return found_.take(); }

 private:
  struct until {
    timestamp_ns end;
    context_id context{};
  };
  std::uint64_t limit_;
  std::map<device_id, until> busy_;
  longest_rows<gap_row> found_;
};

}  // namespace gpuprof::nsys_rules
