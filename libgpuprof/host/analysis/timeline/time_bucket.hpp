// SPDX-License-Identifier: Apache-2.0
// Divides the time of each GPU into buckets: each nanosecond is in exactly one. Buckets are summed
// in total, by range and by step.
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
  compute_and_communication,  // both at the same time
  communication,              // without kernels
  transfer,                   // the GPU's own pause between two queued kernels
  // the work was queued but waited for an event, another stream or a copy
  back_to_back,
  dependency,       // the work was queued and waited: for an event, another stream, a copy
  synchronization,  // the program launched more only after waiting for the GPU
  allocation,
  module_load,
  graph_build,
  launch_bound,  // the thread launched at its usual pace, but the GPU was faster
  data_loading,
  between_steps,
  cpu_work,       // the program did other work than CUDA calls
  host_unknown,   // the program had not launched; its calls were not recorded
  start_up,       // before the first work of this GPU
  nothing_to_do,  // after the last work of this GPU
  profiler,       // gpuprof itself
};
inline constexpr std::size_t time_bucket_count =
    static_cast<std::size_t>(time_bucket::profiler) + 1;

/// Returns the name in reports: "compute", "idle: launch-bound".
std::string_view name_of(time_bucket bucket) noexcept;
/// Returns one sentence that explains the bucket to new readers.
std::string_view meaning_of(time_bucket bucket) noexcept;
constexpr bool is_idle(time_bucket bucket) noexcept {
  return bucket >= time_bucket::back_to_back && bucket != time_bucket::profiler;
}

/// Nanoseconds in each bucket.
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

// Sums what the time of each GPU was spent on: in total, by range, by step.

/// Time belongs to the range that launched the running work, or the work that ended the gap. Each
/// nanosecond belongs to one range and to those that enclose it.
class time_ledger {
 public:
  struct range_line {
    range_key range{};
    bool is_outside = false;  // work that was launched outside any range
    bucket_times inclusive, exclusive;
  };

  /// Both arguments must outlive this object. `step_of_range`: by index into the tree, the step of
  /// the range or no_step; empty: there are no steps.
  time_ledger(range_tree const& ranges, std::span<std::uint32_t const> step_of_range);

  void add(device_id device, time_bucket bucket, double ns, std::uint32_t range);

  std::map<device_id, bucket_times> const& by_device() const noexcept { return by_device_; }
  /// By step, summed over all devices.
  std::vector<bucket_times> const& by_step() const noexcept { return by_step_; }
  /// Returns lines with the longest inclusive time first.
  std::vector<range_line> by_range() const;
  bucket_times total() const noexcept;

 private:
  void add_to_ranges(time_bucket bucket, double ns, std::uint32_t range);

  range_tree const& ranges_;
  std::span<std::uint32_t const> step_of_range_;
  std::vector<std::uint32_t> key_of_range_;  // index into `lines_`
  std::vector<range_line> lines_;            // the last one is for work outside any range
  std::map<device_id, bucket_times> by_device_;
  std::vector<bucket_times> by_step_;
  std::vector<std::uint32_t> seen_;  // used during one addition
};

}  // namespace gpuprof::host
