// SPDX-License-Identifier: Apache-2.0
// The ranges of a capture as a tree that a page can draw: times with and without what is inside,
// and what was reached in each place.
#pragma once

#include "host/analysis/roofline.hpp"
#include "host/reading/trace_contents.hpp"
#include "host/report/ledger_table.hpp"
#include "roofline_reading.hpp"

#include <cstddef>
#include <string>

namespace gpuprof {

/// Its figures are from one roofline, which was read with ranges; null: nothing was counted.
struct counted_ranges {
  roofline_reading const& read;
  roofline const& roofs;
};

/// {"paths": [{"name", "parent", "style", "joined", "instances", "cpu_ns", "own_cpu_ns", "gpu_ns",
/// "own_gpu_ns", "operations", "flops", "dram_bytes_per_second", "l2_bytes_per_second", "bound_by",
/// "of_roof"}], "joined", "slow_steps": [...], "slow_beyond_ns"}. `parent`: its place in the list,
/// or null.
std::string range_document(trace_contents& trace, std::string const& step_name,
                           report::ledger const& time, counted_ranges const* counted,
                           std::size_t max_paths);

}  // namespace gpuprof
