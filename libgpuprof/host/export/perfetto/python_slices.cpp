// SPDX-License-Identifier: Apache-2.0
#include "host/export/frames_of_threads.hpp"
#include "host/export/perfetto/packets.hpp"
#include "host/export/perfetto/tracks.hpp"
#include "host/export/perfetto/writers.hpp"

#include <unordered_map>

namespace gpuprof::host::perfetto {
namespace {

class python_slices {
 public:
  python_slices(packet_file& file, export_job& job, tracks& of)
      : job_(job), tracks_(of), frames_(job), slices_(file), names_(slices_) {}

  void write() {
    frames_.read(
        [](std::uint32_t) { return false; }, [&](python_frame const& frame) { begin(frame); },
        [&](python_frame const& frame) { add(frame.end, slice_end, frame, [](auto&) {}); });
  }

 private:
  template <class Describe>
  void add(timestamp_ns at, std::int32_t type, python_frame const& frame, Describe&& describe) {
    auto const track = track_of(frame.os_thread);
    slices_.add(at, [&](message<packet>& out) {
      message<track_event> event(out, packet::track_event);
      event.add_enum(track_event::type, type);
      event.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(track));
      describe(event);
    });
  }
  void begin(python_frame const& frame) {
    add(frame.start, slice_begin, frame, [&](message<track_event>& event) {
      // Numbers of frames take the place of those of names, of which this sequence has no others.
      event.add_uint64(track_event::name_iid,
                       names_.event(static_cast<name_id>(raw(frame.frame)),
                                    [&] { return frames_.name_of(frame.frame); }));
      event.add_uint64(track_event::category_iids, names_.category("python"));
      auto const& row = frames_.frame(frame.frame);
      if (raw(row.module) == 0) return;
      message<debug_annotation> note(event, track_event::debug_annotations);
      note.add_uint64(debug_annotation::name_iid, names_.annotation("module"));
      note.add_string(debug_annotation::string_value, job_.names.text(row.module));
    });
  }
  track_id track_of(std::uint32_t os_thread) {
    auto const [at, is_new] = of_threads_.try_emplace(os_thread);
    if (is_new) at->second = tracks_.child_of(tracks_.thread(os_thread), "Python");
    return at->second;
  }

  export_job& job_;
  tracks& tracks_;
  frames_of_threads frames_;
  sequence slices_;
  event_names names_;
  std::unordered_map<std::uint32_t, track_id> of_threads_;
};

}  // namespace

void write_python(packet_file& file, export_job& job, tracks& of) {
  python_slices(file, job, of).write();
}

}  // namespace gpuprof::host::perfetto
