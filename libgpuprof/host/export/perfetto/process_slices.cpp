// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/packets.hpp"
#include "host/export/perfetto/tracks.hpp"
#include "host/export/perfetto/writers.hpp"
#include "host/reading/ordered_rows.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace gpuprof::host::perfetto {
namespace {

/// Indexed by CUPTI's numbers for unified memory counters.
std::string_view name_of(unified_memory_record const& row) noexcept {
  constexpr std::string_view names[] = {
      "unified memory", "migration to device",  "migration to host",
      "CPU page fault", "GPU page fault group", "thrashing",
      "throttling",     "remote mapping",       "migration between devices"};
  return names[row.counter < std::size(names) ? row.counter : 0];
}

std::string_view name_of(sync_record const& row) noexcept {
  constexpr std::string_view names[] = {"synchronization", "event synchronize", "stream wait event",
                                        "stream synchronize", "context synchronize"};
  return names[row.type < std::size(names) ? row.type : 0];
}

/// Writes slices of the process on a track of their own.
class process_slices {
 public:
  process_slices(packet_file& file, tracks& of, std::string_view name, std::string_view category)
      : tracks_(of),
        name_(name),
        category_(category),
        slices_(file),
        names_(slices_),
        lanes_(slices_, of) {}
  ~process_slices() = default;

  template <class Row, class Describe>
  void write(export_job& job, Describe describe) {
    ordered_rows<Row> rows(job.trace.file());
    while (auto const* row = rows.next()) {
      if (!track_) track_ = tracks_.child_of(tracks_.process(), name_);
      lanes_.add(*track_, name_, row->start, row->start + std::max(row->duration, duration_ns{}),
                 [&](message<track_event>& event) {
                   event.add_uint64(track_event::name_iid, names_.event(name_of(*row)));
                   event.add_uint64(track_event::category_iids, names_.category(category_));
                   describe(*row, [&](std::string_view name, std::uint64_t value) {
                     message<debug_annotation> note(event, track_event::debug_annotations);
                     note.add_uint64(debug_annotation::name_iid, names_.annotation(name));
                     note.add_uint64(debug_annotation::uint_value, value);
                   });
                 });
    }
    lanes_.finish();
  }

 private:
  tracks& tracks_;
  std::string_view name_, category_;
  sequence slices_;
  event_names names_;
  slice_lanes lanes_;
  std::optional<track_id> track_;
};

}  // namespace

void write_unified_memory(packet_file& file, export_job& job, tracks& of) {
  process_slices(file, of, "Unified memory", "unified_memory")
      .write<unified_memory_record>(job, [](auto const& row, auto add) {
        add("value", row.value);
        add("address", row.address);
        add("source_device", raw(row.source_device));
        add("destination_device", raw(row.destination_device));
      });
}

void write_synchronization(packet_file& file, export_job& job, tracks& of) {
  process_slices(file, of, "CUDA synchronization", "cuda_sync")
      .write<sync_record>(job, [](auto const& row, auto add) {
        add("context", raw(row.context));
        add("stream", raw(row.stream));
        if (row.event != 0) add("event", row.event);
      });
}

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

}  // namespace gpuprof::host::perfetto
