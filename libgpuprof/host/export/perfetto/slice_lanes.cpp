// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/slice_lanes.hpp"

namespace gpuprof::perfetto {

void slice_lanes::end_until(timestamp_ns moment) {
  for (; !ends_.empty() && ends_.top().end <= moment; ends_.pop()) {
    auto const& ended = ends_.top();
    on_.add(ended.end, [&](message<packet>& out) {
      message<track_event> event(out, packet::track_event);
      event.add_enum(track_event::type, slice_end);
      event.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(ended.track));
    });
  }
}

track_id slice_lanes::lane_for(track_id track, std::string_view name, timestamp_ns start,
                               timestamp_ns end) {
  auto& lanes = lanes_[static_cast<std::uint64_t>(track)];
  if (lanes.empty()) lanes.push_back({track, {}});
  for (auto& lane : lanes) {
    while (!lane.open.empty() && lane.open.back() <= start) lane.open.pop_back();
    if (!lane.open.empty() && lane.open.back() < end) continue;
    lane.open.push_back(end);
    return lane.track;
  }
  lanes.push_back({tracks_.child_of(track, name), {end}});
  return lanes.back().track;
}

}  // namespace gpuprof::perfetto
