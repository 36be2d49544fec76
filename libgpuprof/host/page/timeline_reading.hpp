// SPDX-License-Identifier: Apache-2.0
// Reads a capture into the lanes of a timeline (streams of GPUs, NVTX ranges and calls of threads)
// and into counters over time.
#pragma once

#include <gpuprof/capture.hpp>

#include "host/page/bar_places.hpp"
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

/// Limits of a page besides its bars, in proportion to them. They also bound the memory.
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
  std::size_t counter_points_of_gpu, counter_values;  // counter_values: sum over all tracks
  std::size_t chip_state_values;                      // sum over all tracks
};

struct timeline {
  explicit timeline(timeline_limits const& limits)
      : bars(limits.bars),
        counters(limits.counter_points_of_gpu),
        chip_states(limits.counter_points_of_gpu) {}

  // The time that all bars cover, in ns of CLOCK_REALTIME. Without bars the end is before the
  // beginning.
  std::uint64_t begin_ns = ~std::uint64_t{0}, end_ns = 0;
  std::vector<std::string> names;   // of bars
  std::vector<std::string> places;  // of bars in the program, see bar_places
  timeline_bars bars;
  std::vector<captured_stretch> finer;  // windows in which less was joined
  std::uint64_t finer_below_ns = 0;     // joined_below_ns of these windows
  counter_tracks counters;
  chip_state_tracks chip_states;
  std::size_t lanes_left_out = 0;   // streams and threads beyond the maximum of a page
  std::size_t pieces_left_out = 0;  // in these lanes, or overlapping too often in one
};

/// Reads one capture in one pass or two.
class timeline_reader {
 public:
  /// The capture must outlive this object. Functions that read throw std::runtime_error as
  /// gpuprof::capture_file does.
  timeline_reader(capture_file& capture, std::size_t max_bars);

  /// `advance` is called for each record except states of GPUs; `also` gets all records, so that
  /// one pass serves both.
  void read(std::function<void()> const& advance, record_listener& also);

  /// Reads again what begins in these windows, if bars were joined. Earlier windows take
  /// precedence: together they have at most a tenth as many pieces as the timeline has bars, unless
  /// only the first is read. If `wanted` is empty, the window is in the middle of the capture.
  void read_finer(std::vector<captured_stretch> const& wanted);

  /// Gives bars their places. Call it after reading.
  bar_places places() { return {made_.bars, rows_, made_.places}; }

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
  std::unordered_map<char const*, std::uint32_t> numbers_;  // numbers of names
};

}  // namespace gpuprof::host::page
