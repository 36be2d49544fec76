// SPDX-License-Identifier: Apache-2.0
// Slices that are written as begin and end, each on a track where it nests.
#pragma once

#include "host/export/perfetto/sequence.hpp"
#include "host/export/perfetto/tracks.hpp"

#include <cstdint>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::perfetto {

/// Perfetto takes the end of a slice for that of the last one begun on its track. What overlaps
/// without nesting goes to another track of the same name, which Perfetto shows as one with it.
///
/// Slices come in order of their start; those of one start the longest first.
class slice_lanes {
 public:
  slice_lanes(sequence& on, tracks& of) : on_(on), tracks_(of) {}

  /// Begins a slice on `track`; describe(message<track_event>&) adds to its begin. `lane_name`: of
  /// the tracks below `track` that hold what does not nest.
  template <class Describe>
  void add(track_id track, std::string_view lane_name, timestamp_ns start, timestamp_ns end,
           Describe&& describe) {
    end_until(start);
    auto const on = lane_for(track, lane_name, start, end);
    on_.add(start, [&](message<packet>& out) {
      message<track_event> event(out, packet::track_event);
      event.add_enum(track_event::type, slice_begin);
      event.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(on));
      describe(event);
    });
    ends_.push({end, ++begun_, on});
  }
  /// All that are open.
  void finish() { end_until({~std::uint64_t{0}}); }

 private:
  struct open_end {
    timestamp_ns end;
    std::uint64_t begun = 0;
    track_id track{};
    /// The queue's front is the earliest end; of one time the last begun.
    friend bool operator<(open_end const& a, open_end const& b) noexcept {
      return a.end != b.end ? a.end > b.end : a.begun < b.begun;
    }
  };
  struct nesting_track {
    track_id track{};
    std::vector<timestamp_ns> open;  // ends, the innermost last
  };

  void end_until(timestamp_ns moment);
  track_id lane_for(track_id track, std::string_view name, timestamp_ns start, timestamp_ns end);

  sequence& on_;
  tracks& tracks_;
  std::unordered_map<std::uint64_t, std::vector<nesting_track>> lanes_;  // by the track asked for
  std::priority_queue<open_end> ends_;
  std::uint64_t begun_ = 0;
};

}  // namespace gpuprof::perfetto
