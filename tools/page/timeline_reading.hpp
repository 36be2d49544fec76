// SPDX-License-Identifier: Apache-2.0
// Reads a capture into the lanes of a timeline: streams of GPUs, NVTX ranges and calls of threads.
#pragma once

#include <gpuprof/capture.hpp>

#include "page/timeline_bars.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpuprof::page {

struct timeline {
  explicit timeline(std::size_t max_bars) : bars(max_bars) {}

  std::uint64_t begin_ns = 0, end_ns = 0;  // of all that is drawn, ns of CLOCK_REALTIME
  std::vector<std::string> names;          // of bars
  timeline_bars bars;
  std::size_t lanes_left_out = 0;  // beyond the most that a page shows
};

/// `advance` hears of each record; `also`, of kernels, copies, fills,
/// ranges and samples: one pass serves both. Throws
/// std::runtime_error as gpuprof::capture_file does.
timeline read_timeline(std::string const& capture, std::size_t max_bars,
                       std::function<void()> const& advance, capture_visitor const& also = {});

/// A JSON object that says what the columns are: {"begin_ns", "end_ns", "joined_below_ns", "lanes":
/// [{"group", "name", "bars"}], "names": [...], "lanes_left_out"}; then the columns, each as
/// page::packed(page::planes_of(...)), in the order of lanes: start after the start before (of the
/// first of a lane, after begin_ns), length, length less busy time, name, count, longest less
/// length where several are joined.
struct timeline_document {
  std::string head;
  std::vector<std::pair<std::string, std::string>> columns;  // name, packed planes
};
timeline_document document_of(timeline const& made);

}  // namespace gpuprof::page
