// SPDX-License-Identifier: Apache-2.0
// Adds up what the time of each GPU was spent on: in all, by range, by step.
#pragma once

#include "host/analysis/range_tree.hpp"
#include "host/analysis/timeline/gpu_item.hpp"
#include "host/analysis/timeline/step_ranges.hpp"
#include "host/analysis/timeline/time_bucket.hpp"

#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

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
