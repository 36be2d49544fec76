// SPDX-License-Identifier: Apache-2.0
// Provides the kernels of a capture with durations for sums: a launch slowed by counters gets the
// mean of the other launches of its shape.
#pragma once

#include "host/analysis/slowed_launches.hpp"
#include "host/reading/capture_walk.hpp"
#include "host/reading/trace_contents.hpp"

#include <functional>
#include <span>
#include <vector>

namespace gpuprof::host {

/// Needs one pass: launches that may be slowed are kept in memory until all others of their shape
/// are known, and are passed on last. The analysis of counters uses more memory than that.
class summed_kernels {
 public:
  /// `is_substituted`: the durations are the means of other launches.
  using taker = std::function<void(std::span<kernel_record const>, bool is_substituted)>;

  /// Reads which launches have counters. The trace must outlive this object.
  explicit summed_kernels(trace_contents& trace);

  /// Call before join().
  void add(capture::column_set<kernel_record> const& wanted, taker take);
  void join(capture_walk& walk);
  /// Call after the walk.
  void finish();

 private:
  void take(std::span<kernel_record const> kernels, bool is_substituted) const;
  void take_undisturbed(std::span<kernel_record const> kernels);

  slowed_launches slowed_;
  capture::column_set<kernel_record> wanted_ = capture::column_set<kernel_record>::none();
  std::vector<taker> takers_;
  std::vector<kernel_record> kept_;
};

/// For a pass in order of time, in which no kernels can come last. Reads all kernels if any launch
/// may be slowed.
slowed_launches read_slowed_launches(trace_contents& trace);
/// The two parts of read_slowed_launches(), for callers with a walk of their own: everything except
/// the kernels, and the kernels.
slowed_launches possibly_slowed(trace_contents& trace);
void see_kernels(slowed_launches& slowed, capture_walk& walk);
/// Adds the columns that `slowed` needs, if any launch may be slowed.
void add_columns_of(slowed_launches const& slowed, capture::column_set<kernel_record>& to);

}  // namespace gpuprof::host
