// SPDX-License-Identifier: Apache-2.0
// Why a GPU had nothing to do, and idle time added up by this cause, the call behind it, the range
// and the GPU.
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

// Why a GPU had nothing to do: decided by the work that ended the gap and by what the thread that
// launched it did meanwhile.

/// What is known of the thread that launched the work which ended a gap.
struct launching_thread {
  std::deque<host_call> const* calls;  // in order of their beginning
  timestamp_ns previous_launch;        // before this one; 0: none
  bool calls_recorded = false;         // blocking ones at least
  bool is_first_of_kernel = false;     // libraries load a kernel when it is first launched
  bool loads_data = false;             // it was in a range that loads data
  bool is_between_steps = false;       // after the first step began, before the last ended, in none
};

struct gap_cause {
  time_bucket bucket{};
  name_id call{};    // which the thread was in or came from; 0: none
  call_kind kind{};  // of that
  /// What it would be shorter without the wait or the call, and nothing else changed.
  double sure_ns = 0;
};

/// `begin` to `end`: in which the GPU was idle; `after` ended it.
gap_cause cause_of_gap(timestamp_ns begin, timestamp_ns end, gpu_item const& after,
                       launching_thread const& thread, pace const& run);

struct gap_key {
  time_bucket cause{};
  call_kind kind{};
  bool reads_result = false;  // a few bytes, copied to the host just before
  bool in_warm_up = false;
  bool before_graph = false;  // what came then was a graph
  name_id call{};
  std::optional<range_key> range;  // nothing: in none
  device_id device{};
  friend auto operator<=>(gap_key const&, gap_key const&) = default;
};
struct gap_sum {
  std::uint64_t count = 0;
  double idle_ns = 0, sure_ns = 0;
};

/// Times that the profiler took cut a gap into several: it is counted with the last, and its length
/// is that of none.
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
  /// Of a line above, what is sure. The same allocation takes as long each time: where one takes
  /// longer than the quickest twentieth of them, something else held it (the driver's lock while
  /// this profiler sets up counters, another process), and may be gone in the next run.
  double sure_of(gap_key const& key, gap_sum const& sum) const {
    auto const known = lengths_.find({key.call, key.device});
    if (key.cause != time_bucket::allocation || known == lengths_.end()) return sum.sure_ns;
    return std::min(sum.sure_ns, without_cupti * static_cast<double>(sum.count) *
                                     *known->second.quantile(quick_share));
  }

 private:
  /// With CUPTI in the process cudaMalloc and cudaFree take longer: 226 us instead of 166 on an
  /// H100.
  static constexpr double without_cupti = 0.7;
  static constexpr double quick_share = 0.05;  // in a short run counters are at work most of it
  std::map<gap_key, gap_sum> sums_;
  std::map<std::pair<name_id, device_id>, log_histogram> lengths_;  // of allocations
  std::pair<gap_key const, gap_sum>* last_ = nullptr;  // gaps of one cause come in a row
};

}  // namespace gpuprof::host
