// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/capture_windows.hpp"

#include "host/export/perfetto/event_names.hpp"

namespace gpuprof::perfetto {

void write_capture_windows(packet_file& file, export_job& job, tracks& of) {
  auto const& windows = job.trace.windows();
  if (windows.empty()) return;
  auto const track = of.child_of(of.process(), "Captures");
  sequence slices(file);
  event_names names(slices);
  auto const add = [&](timestamp_ns at, std::int32_t type, auto describe) {
    slices.add(at, [&](message<packet>& out) {
      message<track_event> event(out, packet::track_event);
      event.add_enum(track_event::type, type);
      event.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(track));
      describe(event);
    });
  };
  for (auto const& window : windows) {
    add(window.start, slice_begin, [&](message<track_event>& event) {
      event.add_uint64(track_event::name_iid,
                       names.event("capture " + std::to_string(window.index)));
      event.add_uint64(track_event::category_iids, names.category("gpuprof"));
      message<debug_annotation> note(event, track_event::debug_annotations);
      note.add_uint64(debug_annotation::name_iid, names.annotation("trigger"));
      note.add_string(debug_annotation::string_value, job.names.text(window.trigger));
    });
    if (window.end >= window.start) add(window.end, slice_end, [](auto&) {});
  }
}

}  // namespace gpuprof::perfetto
