// SPDX-License-Identifier: Apache-2.0
// What the time of each GPU was spent on: each nanosecond is in exactly one bucket, and buckets are
// added up in all, by range and by step.
#pragma once

#include "host/analysis/range_tree.hpp"
#include "host/analysis/timeline/gpu_item.hpp"
#include "host/analysis/timeline/step_ranges.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

enum class time_bucket : std::uint8_t {
  compute,
  compute_and_communication,  // at once
  communication,              // alone
  transfer,                   // copies and fills alone
  back_to_back,               // the GPU's own pause between two kernels that were both queued
  dependency,       // the work was queued and waited: for an event, another stream, a copy
  synchronization,  // the program waited for the GPU, and then issued more
  allocation,
  module_load,
  graph_build,
  launch_bound,  // the thread launched as fast as it does, and the GPU was faster
  data_loading,
  between_steps,
  cpu_work,       // of the program, outside CUDA
  host_unknown,   // for the host, of which no calls were recorded
  start_up,       // before the first work of this GPU
  nothing_to_do,  // after its last
  profiler,       // this one
};
inline constexpr std::size_t time_bucket_count =
    static_cast<std::size_t>(time_bucket::profiler) + 1;

/// As reports print it: "compute", "idle: launch-bound".
std::string_view name_of(time_bucket bucket) noexcept;
/// In one sentence, for whoever reads it the first time.
std::string_view meaning_of(time_bucket bucket) noexcept;
constexpr bool is_idle(time_bucket bucket) noexcept {
  return bucket >= time_bucket::back_to_back && bucket != time_bucket::profiler;
}

/// Nanoseconds in each.
class bucket_times {
 public:
  double& operator[](time_bucket b) noexcept { return ns_[static_cast<std::size_t>(b)]; }
  double operator[](time_bucket b) const noexcept { return ns_[static_cast<std::size_t>(b)]; }
  bucket_times& operator+=(bucket_times const& other) noexcept {
    for (std::size_t i = 0; i < ns_.size(); ++i) ns_[i] += other.ns_[i];
    return *this;
  }
  double total() const noexcept {
    double sum = 0;
    for (auto const ns : ns_) sum += ns;
    return sum;
  }
  double idle() const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < ns_.size(); ++i)
      if (is_idle(static_cast<time_bucket>(i))) sum += ns_[i];
    return sum;
  }
  double busy() const noexcept { return total() - idle() - (*this)[time_bucket::profiler]; }

 private:
  std::array<double, time_bucket_count> ns_{};
};

// Adds up what the time of each GPU was spent on: in all, by range, by step.

/// Time belongs to the range that launched what ran, or that launched what ended the gap; each
/// nanosecond to one range, and to those that enclose it.
class time_ledger {
 public:
  struct range_line {
    range_key range{};
    bool is_outside = false;  // what no range launched
    bucket_times inclusive, exclusive;
  };

  /// Both outlive it. `step_of_range`: by index into the tree the step that it is or lies in, or
  /// no_step; empty: there are no steps.
  time_ledger(range_tree const& ranges, std::span<std::uint32_t const> step_of_range);

  void add(device_id device, time_bucket bucket, double ns, std::uint32_t range);

  std::map<device_id, bucket_times> const& by_device() const noexcept { return by_device_; }
  /// By step, of all devices together.
  std::vector<bucket_times> const& by_step() const noexcept { return by_step_; }
  /// Longest inclusive time first.
  std::vector<range_line> by_range() const;
  bucket_times total() const noexcept;

 private:
  void add_to_ranges(time_bucket bucket, double ns, std::uint32_t range);

  range_tree const& ranges_;
  std::span<std::uint32_t const> step_of_range_;
  std::vector<std::uint32_t> key_of_range_;  // index into lines_
  std::vector<range_line> lines_;            // the last: outside of all
  std::map<device_id, bucket_times> by_device_;
  std::vector<bucket_times> by_step_;
  std::vector<std::uint32_t> seen_;  // while one addition is made
};

}  // namespace gpuprof::host
