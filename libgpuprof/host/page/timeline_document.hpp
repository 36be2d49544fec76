// SPDX-License-Identifier: Apache-2.0
// A timeline in the form used in a page: a JSON object that describes it, and columns of numbers.
#pragma once

#include "host/export/traced_path.hpp"
#include "host/page/timeline_bars.hpp"
#include "host/page/timeline_reading.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::page {

struct timeline_step {
  std::uint64_t begin_ns = 0, end_ns = 0, period_ns = 0;
};
struct timeline_steps {
  std::string name;
  std::vector<timeline_step> shown;  // in order of start
  std::size_t left_out = 0;
  std::size_t warm_up = 0;                      // so many at the beginning are warm-up
  std::optional<std::size_t> shown_first = {};  // the timeline opens with this step
};

/// {"begin_ns", "end_ns", "joined_below_ns", "lanes_left_out", "pieces_left_out",
///  "finer": [{"begin_ns", "end_ns"}], "finer_joined_below_ns",
///  "lanes": [{"group", "name", "bars"}], "names": [...],
///  "places": [...],
///  "idle_joined_below_ns", "idle_is_finer",
///  "idle_finer_joined_below_ns", "idle": [{"device", "cause", "bars"}],
///  "counters": [{"device", "from": "samples" or "nvml", "points", "joined_below_ns", "left_out",
///                "tracks": [{"name", "unit", "source", "main", "least", "greatest"}]}],
///  "steps": {"name", "count", "left_out", "warm_up", "shown_first": may be absent},
///  "paths": [{"slowest", "steps", "begin_ns", "end_ns", "links"}],
///  "path_rows": [{"group", "name"}]}
/// Finer: windows, from "begin_ns" on, in which nothing is joined, or only what is shorter; idle
/// time has windows of its own.
/// Columns, each as page::packed(page::planes_of(...)), in the order of the lists above:
///  start, length, pause, name, place, count, longest; idle-start, idle-length, idle-pause,
///  idle-count:
///    start after the start before (of the first of a lane, after begin_ns), length less busy time
///    and less the longest piece where several are joined; place: from 1 on, 0: none;
///  counter-start, counter-length: of each GPU's points;
///  counter-mean, counter-below, counter-above: track by track, in 65,534ths of the way from the
///    track's least to its greatest value, and one more; 0: none. Below and above: how far the
///    least and the greatest of joined intervals are from their mean;
///  step-begin (after the one before), step-length, step-period;
///  path-start (after the one before, of the first of a path after begin_ns), path-length,
///  path-row.
struct timeline_document {
  std::string head;
  std::vector<std::pair<std::string, std::string>> columns;  // name and packed planes
};
timeline_document document_of(timeline const& made, idle_times const& idle,
                              timeline_steps const& steps,
                              std::vector<traced_path> const& paths = {});

}  // namespace gpuprof::host::page
