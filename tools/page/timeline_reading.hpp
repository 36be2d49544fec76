// SPDX-License-Identifier: Apache-2.0
// Reads a capture into the lanes of a timeline: streams of GPUs, NVTX ranges and calls of threads;
// and counters over time.
#pragma once

#include <gpuprof/capture.hpp>

#include "page/chip_state_tracks.hpp"
#include "page/counter_tracks.hpp"
#include "page/timeline_bars.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpuprof::page {

/// What a page can hold beside its bars, in proportion to them; memory is bounded by it, too.
struct timeline_limits {
  explicit constexpr timeline_limits(std::size_t max_bars)
      : bars(max_bars),
        idle_bars(max_bars / 5),
        steps(max_bars / 5),
        counter_points_of_gpu(max_bars / 25 + 100),
        counter_values(max_bars * 2 / 5),
        chip_state_values(max_bars / 10 + 100) {}

  std::size_t bars, idle_bars, steps;
  std::size_t counter_points_of_gpu, counter_values;  // the values: of all tracks together
  std::size_t chip_state_values;                      // likewise
};

struct timeline {
  explicit timeline(timeline_limits const& limits)
      : bars(limits.bars),
        counters(limits.counter_points_of_gpu),
        chip_states(limits.counter_points_of_gpu) {}

  // Of all bars, ns of CLOCK_REALTIME; without any the end is before the beginning.
  std::uint64_t begin_ns = ~std::uint64_t{0}, end_ns = 0;
  std::vector<std::string> names;  // of bars
  timeline_bars bars;
  counter_tracks counters;
  chip_state_tracks chip_states;
  std::size_t lanes_left_out = 0;   // streams and threads beyond the most that a page shows
  std::size_t pieces_left_out = 0;  // of these, and of what overlaps too often on one
};

/// `advance` hears of each record; `also`, of kernels, copies, fills,
/// ranges and samples: one pass serves both. Throws
/// std::runtime_error as gpuprof::capture_file does.
timeline read_timeline(std::string const& capture, std::size_t max_bars,
                       std::function<void()> const& advance, capture_visitor const& also = {});

}  // namespace gpuprof::page
