// SPDX-License-Identifier: Apache-2.0
// Chooses the kernels for which a page has details, and writes these details as one JSON object.
#pragma once

#include "host/page/kernel_details.hpp"
#include "host/reading/summed_kernels.hpp"
#include "host/reading/trace_contents.hpp"
#include "stats_output.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

/// The kernels for which a page has details: those with the longest time in `gpuprof stats`.
struct watched_kernels {
  std::vector<page::watched_line> kernels, signatures;  // the longest time first
  std::size_t more_kernels = 0, more_signatures = 0;    // did not fit in the page
};

/// Takes kernels from cuda_gpu_kern_sum, and half as many again from cuda_gpu_kern_gb_sum, if these
/// reports exist.
watched_kernels kernels_to_watch(std::vector<finished_report> const& reports,
                                 std::size_t max_kernels);

/// Identifies a kernel by correlation and start, because the kernels of a graph share a
/// correlation.
using kernel_moment = std::pair<std::uint32_t, std::uint64_t>;
/// Durations in ns that sums use instead, for launches slowed by the reading of counters.
using undisturbed_lengths = std::map<kernel_moment, std::uint64_t>;
/// `to` is filled during the walk that `kernels` joins.
void note_undisturbed(summed_kernels& kernels, undisturbed_lengths& to);

/// {"kernels": [LINE...], "signatures": [LINE...], "more_kernels", "more_signatures", "names":
/// [...], "ranges": [PLACE...], "more_ranges", "graphs": [PLACE...], "more_graphs", "not_placed"}.
/// Times are ns.
///
/// LINE: {"name", "grid" and "block" of signatures, "left_out", "histogram": {"logarithmic",
/// "edges", "counts", "shorter", "longer"}, "joined_within_ns", "points": [[start after the start
/// before (the first: after the origin of the capture), launches, shortest, total, longest]...]};
/// of kernels also "geometries" with "occupancy", "blocks_per_sm", "limited_by", "waves";
/// "samples", [{"metric", "means" and "samples" by position in a launch}...]; "before" and
/// "after", [[index into names, times]...].
/// PLACE: {"name", "start_end": true of such ranges, "kernels": [[index into names, launches,
/// ns]...]}.
std::string kernel_document(watched_kernels const& watched, page::kernel_details const& details,
                            trace_contents& trace);

}  // namespace gpuprof::host::command
