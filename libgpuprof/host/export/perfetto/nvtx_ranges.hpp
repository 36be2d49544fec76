// SPDX-License-Identifier: Apache-2.0
// NVTX ranges and marks: below each thread a track for each domain.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/perfetto/event_names.hpp"
#include "host/export/perfetto/tracks.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gpuprof::perfetto {

/// Neither lengths nor the tree of ranges are needed: begins and ends go out as they come.
class nvtx_ranges {
 public:
  nvtx_ranges(packet_file& file, export_job& job, tracks& of);

  void write();
  void add_notes(export_notes& to) const;

 private:
  struct range_track {
    track_id track{};
    std::vector<range_id> open;  // the innermost last
  };
  struct track_group {
    track_id thread{};
    std::string name;
    // One alone for ranges that are pushed and popped; those with a start and an end may overlap.
    std::vector<std::unique_ptr<range_track>> all;
  };
  struct open_range {
    range_track* on = nullptr;
    std::uint64_t begun = 0;  // so many were before it
  };
  /// What happened at one moment, in the order of the capture.
  struct moment {
    std::vector<range_begin> begins;
    std::vector<range_end> ends;
    std::vector<mark_record> marks;
  };

  void write_moment(timestamp_ns at);
  void end_earlier(timestamp_ns at);
  void begin(range_begin const& row);
  void end(timestamp_ns at, range_id range);
  void mark(mark_record const& row);
  track_group& group_of(thread_index thread, name_id domain, range_style style);
  range_track& free_track(track_group& among);
  template <class Row>
  void describe(message<track_event>& event, Row const& row);
  template <class Row>
  void add_payload(message<track_event>& event, Row const& row);
  std::string category_name(name_id domain, std::uint32_t category) const;

  export_job& job_;
  tracks& tracks_;
  sequence events_;
  event_names names_;
  moment now_;
  std::map<std::tuple<thread_index, name_id, range_style>, track_group> groups_;
  std::map<std::pair<name_id, std::uint32_t>, name_id> categories_;
  std::unordered_map<std::uint64_t, open_range> open_;  // by range_id
  std::unordered_set<std::uint64_t> ended_early_;       // the clock stepped back inside
  std::uint64_t begun_ = 0, cut_ = 0;
};

}  // namespace gpuprof::perfetto
