// SPDX-License-Identifier: Apache-2.0
// The kernels of a capture with the lengths that count in sums: where reading counters has slowed a
// launch, the mean of the others of its shape.
#pragma once

#include "host/analysis/slowed_launches.hpp"
#include "host/reading/capture_walk.hpp"
#include "host/reading/trace_contents.hpp"

#include <functional>
#include <span>
#include <vector>

namespace gpuprof::host {

/// One pass: a launch that may be slowed is kept until all others of its shape are known, and comes
/// last. Memory: these launches, of which the analysis of counters keeps more.
class summed_kernels {
 public:
  /// `is_substituted`: the length is that of other launches.
  using taker = std::function<void(std::span<kernel_record const>, bool is_substituted)>;

  /// Reads which launches counters were read around. The trace outlives it.
  explicit summed_kernels(trace_contents& trace);

  /// Before join().
  void add(capture::column_set<kernel_record> const& wanted, taker take);
  void join(capture_walk& walk);
  /// After the walk.
  void finish();

 private:
  void take(std::span<kernel_record const> kernels, bool is_substituted) const;
  void take_undisturbed(std::span<kernel_record const> kernels);

  slowed_launches slowed_;
  capture::column_set<kernel_record> wanted_ = capture::column_set<kernel_record>::none();
  std::vector<taker> takers_;
  std::vector<kernel_record> kept_;
};

/// For a pass in order of time, which cannot take some kernels last: with all kernels, which are
/// read only where a launch may have been slowed.
slowed_launches read_slowed_launches(trace_contents& trace);
/// Its two parts, for a walk that others join: all but the kernels; these.
slowed_launches possibly_slowed(trace_contents& trace);
void see_kernels(slowed_launches& slowed, capture_walk& walk);
/// Adds the columns that it looks at, where any launch may have been slowed.
void add_columns_of(slowed_launches const& slowed, capture::column_set<kernel_record>& to);

}  // namespace gpuprof::host
