// SPDX-License-Identifier: Apache-2.0
// Writes the part of a page about NVTX ranges: their tree, with the work of each place.
#pragma once

#include "host/analysis/range_paths.hpp"
#include "host/analysis/roofline.hpp"
#include "host/reading/capture_walk.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/summed_kernels.hpp"
#include "host/reading/trace_contents.hpp"
#include "host/report/ledger_table.hpp"

#include <cstddef>
#include <string>

namespace gpuprof::host::command {

/// Both must come from one roofline that was read with ranges. A null pointer means that nothing
/// was counted.
struct counted_ranges {
  roofline_reading const& read;
  roofline const& roofs;
};

/// Sums the work of a capture by places in its tree of ranges, in a walk.
class range_places {
 public:
  /// `step_name` is the range that is a step; empty: it is found. The trace must outlive this
  /// object.
  range_places(trace_contents& trace, std::string const& step_name);
  range_places(range_places const&) = delete;
  range_places& operator=(range_places const&) = delete;

  void join(capture_walk& walk, summed_kernels& kernels);

  /// Call it after the walk. Returns {"paths": [{"name", "parent", "style", "joined", "instances",
  /// "cpu_ns", "own_cpu_ns", "gpu_ns", "own_gpu_ns", "operations", "flops",
  /// "dram_bytes_per_second", "l2_bytes_per_second", "bound_by", "of_roof"}], "joined",
  /// "slow_steps": [...], "slow_beyond_ns"}. `parent` is an index in the list, or null.
  std::string document(report::ledger const& time, counted_ranges const* counted,
                       std::size_t max_paths) const;

 private:
  template <class Row>
  void join_others(capture_walk& walk);

  trace_contents& trace_;
  numbered_ranges lines_;
  range_paths paths_;
};

}  // namespace gpuprof::host::command
