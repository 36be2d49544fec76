// SPDX-License-Identifier: Apache-2.0
// The details of kernels as one JSON object.
#pragma once

#include "host/page/kernel_details.hpp"
#include "host/reading/trace_contents.hpp"
#include "report_page/watched_kernels.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace gpuprof {

/// A kernel by its correlation and its start: those of a graph share a correlation.
using kernel_moment = std::pair<std::uint32_t, std::uint64_t>;
/// What stands in sums for launches that reading counters has slowed, in ns.
std::map<kernel_moment, std::uint64_t> undisturbed_lengths(trace_contents& trace);

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

}  // namespace gpuprof
