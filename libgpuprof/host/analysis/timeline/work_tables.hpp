// SPDX-License-Identifier: Apache-2.0
// Sums the work that ran: kernels by shape, transfers by kind, both by the range that launched
// them.
#pragma once

#include "host/analysis/range_tree.hpp"
#include "host/analysis/timeline/device_sweep.hpp"
#include "host/analysis/timeline/log_histogram.hpp"

#include <compare>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// Nanoseconds by range. The range with the most time is shown for all.
class time_by_range {
 public:
  void add(std::optional<range_key> const& range, double ns) {
    if (last_ == nullptr || last_->first != range) last_ = &*times_.try_emplace(range).first;
    last_->second += ns;
  }
  std::optional<range_key> longest() const {
    std::optional<range_key> found;
    double most = -1;
    for (auto const& [range, ns] : times_)
      if (ns > most) {
        found = range;
        most = ns;
      }
    return found;
  }

 private:
  std::map<std::optional<range_key>, double> times_;
  std::pair<std::optional<range_key> const, double>* last_ = nullptr;
};

struct kernel_times {
  std::uint64_t launches = 0;
  double total_ns = 0, alone_ns = 0;
  double followed_ns = 0;  // a shorter kernel would let the next one start earlier
  // Launches that ran without other kernels for at least half of their time.
  std::uint64_t alone_launches = 0;
  double alone_launches_ns = 0;
  time_by_range ranges;
};

/// The properties shared by transfers that are listed together.
struct transfer_key {
  copy_kind kind{};
  memory_kind source{}, destination{};
  bool is_fill = false, asynchronous = false, is_small = false;
  bool in_warm_up = false;
  device_id device{};
  friend auto operator<=>(transfer_key const&, transfer_key const&) = default;
};
struct transfer_times {
  std::uint64_t count = 0, bytes = 0, in_a_row = 0;
  double total_ns = 0, alone_ns = 0, blocked_ns = 0;
  time_by_range ranges;
  log_histogram ns_of_mib;  // time per MiB of each copy
};

}  // namespace gpuprof::host
