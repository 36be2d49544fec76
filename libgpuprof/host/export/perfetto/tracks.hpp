// SPDX-License-Identifier: Apache-2.0
// The tracks of a process: its threads, the tracks below them, and slices that nest on each track.
// A track is described when it is used for the first time.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/perfetto/packets.hpp"

#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::perfetto {

/// Identifies a track in the file.
enum class track_id : std::uint64_t {};

class tracks {
 public:
  tracks(packet_file& file, export_job& job);

  /// The process id in the capture; 1 if the capture has none.
  std::uint32_t process_id() const noexcept { return process_id_; }
  track_id process() const noexcept { return process_; }
  /// Returns the track of a thread by the system's thread id. For 0 (thread not known) it is the
  /// track of the process.
  track_id thread(std::uint32_t os_thread);
  track_id thread(thread_index thread) { return this->thread(job_.trace.os_thread(thread)); }
  /// Creates a new track at each call. Perfetto shows tracks with the same name and parent as one.
  track_id child_of(track_id parent, std::string_view name);
  track_id counter_in_bytes(std::string_view name);
  track_id counter(std::string_view name, std::string_view unit);

 private:
  template <class AddUnit>
  track_id add_counter(std::string_view name, AddUnit add_unit);
  track_id next();
  void describe_process();

  packet_file& file_;
  export_job& job_;
  std::uint32_t process_id_;
  std::uint64_t last_;
  track_id process_;
  std::unordered_map<std::uint32_t, std::string> thread_names_;
  std::unordered_map<std::uint32_t, track_id> threads_;
};

/// Perfetto takes the end of a slice as the end of the last slice begun on its track. So slices
/// that overlap without nesting go to another track of the same name, which Perfetto shows as one
/// with the first.
///
/// Slices must come in order of their start; if the start is equal, the longest first.
class slice_lanes {
 public:
  slice_lanes(sequence& on, tracks& of) : on_(on), tracks_(of) {}

  /// Begins a slice on `track`; describe(message<track_event>&) adds to its begin event.
  /// `lane_name` names the tracks below `track` for slices that do not nest.
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
  /// Ends all open slices.
  void finish() { end_until({~std::uint64_t{0}}); }

 private:
  struct open_end {
    timestamp_ns end;
    std::uint64_t begun = 0;
    track_id track{};
    /// The front of the queue is the earliest end; if ends are equal, the slice begun last.
    friend bool operator<(open_end const& a, open_end const& b) noexcept {
      return a.end != b.end ? a.end > b.end : a.begun < b.begun;
    }
  };
  struct nesting_track {
    track_id track{};
    std::vector<timestamp_ns> open;  // ends of open slices, the innermost last
  };

  void end_until(timestamp_ns moment);
  track_id lane_for(track_id track, std::string_view name, timestamp_ns start, timestamp_ns end);

  sequence& on_;
  tracks& tracks_;
  std::unordered_map<std::uint64_t, std::vector<nesting_track>> lanes_;  // by the requested track
  std::priority_queue<open_end> ends_;
  std::uint64_t begun_ = 0;
};

}  // namespace gpuprof::host::perfetto
