// SPDX-License-Identifier: Apache-2.0
// Reads a capture into the lanes of a timeline: streams of GPUs, NVTX ranges and calls of threads;
// and counters over time.
#pragma once

#include <gpuprof/capture.hpp>

#include "host/page/counter_tracks.hpp"
#include "host/page/timeline_bars.hpp"
#include "host/page/timeline_pieces.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::page {

/// What a page can hold beside its bars, in proportion to them; memory is bounded by it, too.
struct timeline_limits {
  explicit constexpr timeline_limits(std::size_t max_bars)
      : bars(max_bars),
        finer_bars(max_bars / 10),
        idle_bars(max_bars / 5),
        steps(max_bars / 5),
        counter_points_of_gpu(max_bars / 25 + 100),
        counter_values(max_bars * 2 / 5),
        chip_state_values(max_bars / 10 + 100) {}

  std::size_t bars, finer_bars, idle_bars, steps;
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
  std::vector<captured_stretch> finer;  // where less was joined
  std::uint64_t finer_below_ns = 0;     // joined_below_ns of these
  counter_tracks counters;
  chip_state_tracks chip_states;
  std::size_t lanes_left_out = 0;   // streams and threads beyond the most that a page shows
  std::size_t pieces_left_out = 0;  // of these, and of what overlaps too often on one
};

/// One capture, in one pass or two.
class timeline_reader {
 public:
  /// Throws std::runtime_error as gpuprof::capture_file does, here and while it reads.
  timeline_reader(std::string const& capture, std::size_t max_bars);

  /// `advance` is called for each record but states of GPUs; `also` hears of all: one pass serves
  /// both.
  void read(std::function<void()> const& advance, record_listener& also);

  /// Reads once more what begins in these windows, if bars were joined. The first ones count more:
  /// together they have at most a tenth as many pieces as the timeline has bars, or the first one
  /// is alone. Without any: in the middle of the capture.
  void read_finer(std::vector<captured_stretch> const& wanted);

  timeline const& made() const noexcept { return made_; }

 private:
  void add(timeline_piece const& piece);
  std::uint32_t number_of(std::string_view what);
  void order_lanes();
  std::size_t pieces_in(captured_stretch const& window) const;
  captured_stretch middle() const;
  std::vector<captured_stretch> with_room(std::vector<captured_stretch> const& wanted) const;

  timeline_pieces pieces_;
  timeline_limits limits_;
  timeline made_;
  lanes_by_row rows_;
  std::unordered_map<char const*, std::uint32_t> numbers_;  // of names
};

}  // namespace gpuprof::host::page
