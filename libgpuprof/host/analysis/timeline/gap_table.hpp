// SPDX-License-Identifier: Apache-2.0
// Finds why a GPU was idle, and sums idle time by cause, call, range and GPU.
#pragma once

#include "host/analysis/range_tree.hpp"
#include "host/analysis/timeline/gpu_item.hpp"
#include "host/analysis/timeline/host_calls.hpp"
#include "host/analysis/timeline/launch_pace.hpp"
#include "host/analysis/timeline/log_histogram.hpp"
#include "host/analysis/timeline/time_bucket.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <utility>

namespace gpuprof::host {

// Finds why a GPU was idle, from the work that ended the gap and from what its launching thread did
// in the meantime.

/// Data on the thread that launched the work which ended a gap.
struct launching_thread {
  std::deque<host_call> const* calls;  // in order of start
  timestamp_ns previous_launch;        // launch before this one; 0: none
  bool calls_recorded = false;         // at least blocking calls
  bool is_first_of_kernel = false;     // libraries load a kernel at its first launch
  bool loads_data = false;             // the thread was in a range that loads data
  bool is_between_steps = false;       // between the first and the last step, but in none
};

struct gap_cause {
  time_bucket bucket{};
  name_id call{};    // call that the thread was in or came from; 0: none
  call_kind kind{};  // kind of `call`
  /// Time saved without the wait or the call, if nothing else changes.
  double sure_ns = 0;
};

/// The GPU was idle from `begin` to `end`; `after` ended the gap.
gap_cause cause_of_gap(timestamp_ns begin, timestamp_ns end, gpu_item const& after,
                       launching_thread const& thread, pace const& run);

struct gap_key {
  time_bucket cause{};
  call_kind kind{};
  bool reads_result = false;  // a few bytes were copied to the host just before
  bool in_warm_up = false;
  bool before_graph = false;  // a graph ended the gap
  name_id call{};
  std::optional<range_key> range;  // empty: outside any range
  device_id device{};
  friend auto operator<=>(gap_key const&, gap_key const&) = default;
};
struct gap_sum {
  std::uint64_t count = 0;
  double idle_ns = 0, sure_ns = 0;
};

/// A part of a gap that was divided by the profiler's own times. The gap counts once, with its last
/// part; only whole gaps count for the lengths.
struct gap_piece {
  bool is_whole = true, is_last = true;
};

class gap_table {
 public:
  void add(gap_key const& key, double idle_ns, double sure_ns, gap_piece piece = {}) {
    if (last_ == nullptr || last_->first != key) last_ = &*sums_.try_emplace(key).first;
    last_->second.count += piece.is_last;
    last_->second.idle_ns += idle_ns;
    last_->second.sure_ns += sure_ns;
    if (key.cause == time_bucket::allocation && piece.is_whole)
      lengths_[{key.call, key.device}].add(static_cast<std::uint64_t>(sure_ns));
  }
  std::map<gap_key, gap_sum> const& sums() const noexcept { return sums_; }
  /// Returns the part of a line's time that would surely be saved. The same allocation always takes
  /// as long: if one takes longer than the fastest twentieth, something else delayed it (the
  /// driver's lock while this profiler sets up counters, another process), which may not happen in
  /// the next run.
  double sure_of(gap_key const& key, gap_sum const& sum) const {
    auto const known = lengths_.find({key.call, key.device});
    if (key.cause != time_bucket::allocation || known == lengths_.end()) return sum.sure_ns;
    return std::min(sum.sure_ns, without_cupti * static_cast<double>(sum.count) *
                                     *known->second.quantile(quick_share));
  }

 private:
  /// cudaMalloc and cudaFree take longer with CUPTI in the process: 226 us instead of 166 on an
  /// H100.
  static constexpr double without_cupti = 0.7;
  static constexpr double quick_share = 0.05;  // low, as counters are active in most of a short run
  std::map<gap_key, gap_sum> sums_;
  std::map<std::pair<name_id, device_id>, log_histogram> lengths_;  // only of allocations
  // gaps with the same cause often follow each other
  std::pair<gap_key const, gap_sum>* last_ = nullptr;
};

}  // namespace gpuprof::host
