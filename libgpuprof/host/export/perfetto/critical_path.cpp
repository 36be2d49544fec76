// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/api_summary.hpp"
#include "host/export/perfetto/packets.hpp"
#include "host/export/perfetto/tracks.hpp"
#include "host/export/perfetto/writers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gpuprof::host::perfetto {
namespace {

std::string place_of(traced_link const& link) {
  if (link.is_on_gpu)
    return "GPU " + std::to_string(raw(link.device)) + " stream " +
           std::to_string(raw(link.stream));
  return link.os_thread == 0 ? "thread not known" : "thread " + std::to_string(link.os_thread);
}

std::string_view name_of(traced_link const& link) noexcept {
  return link.name.empty() ? std::string_view("CPU work") : without_version_suffix(link.name);
}

/// A track with a slice for the step, and below it a track for each stream and thread. Arrows lead
/// from each slice of the path to the next one.
class path_slices {
 public:
  path_slices(packet_file& file, tracks& of) : tracks_(of), slices_(file), names_(slices_) {}

  void write(traced_path const& path) {
    places_.clear();
    auto const root =
        tracks_.child_of(tracks_.process(), path.is_slowest ? "Critical path: slowest step"
                                                            : "Critical path: median step");
    begin(root, path.begin, "1 of " + std::to_string(path.steps) + " steps \"" + path.step + "\"",
          [](auto&) {});
    auto from = path.begin;  // slices must not overlap
    for (auto const& link : path.links) {
      auto const track = track_of(link, root);
      from = std::max(from, link.begin);
      begin(track, from, name_of(link), [&](message<track_event>& event) {
        {
          message<debug_annotation> note(event, track_event::debug_annotations);
          note.add_uint64(debug_annotation::name_iid, names_.annotation("kind"));
          note.add_string(debug_annotation::string_value, link.kind.data(), link.kind.size());
        }
        if (&link != &path.links.front())
          event.add_fixed64(track_event::terminating_flow_ids, arrows_);
        if (&link != &path.links.back()) event.add_fixed64(track_event::flow_ids, ++arrows_);
      });
      from = std::max(from, link.end);
      end(track, from);
    }
    end(root, std::max(from, path.end));
  }

 private:
  template <class Describe>
  void begin(track_id track, timestamp_ns at, std::string_view name, Describe&& describe) {
    slices_.add(at, [&](message<packet>& out) {
      message<track_event> event(out, packet::track_event);
      event.add_enum(track_event::type, slice_begin);
      event.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(track));
      event.add_uint64(track_event::name_iid, names_.event(name));
      event.add_uint64(track_event::category_iids, names_.category("critical_path"));
      describe(event);
    });
  }
  void end(track_id track, timestamp_ns at) {
    slices_.add(at, [&](message<packet>& out) {
      message<track_event> event(out, packet::track_event);
      event.add_enum(track_event::type, slice_end);
      event.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(track));
    });
  }

  track_id track_of(traced_link const& link, track_id root) {
    auto place = place_of(link);
    for (auto const& [known, track] : places_)
      if (known == place) return track;
    auto const track = tracks_.child_of(root, place);
    places_.emplace_back(std::move(place), track);
    return track;
  }

  tracks& tracks_;
  sequence slices_;
  event_names names_;
  std::vector<std::pair<std::string, track_id>> places_;  // of one path
  std::uint64_t arrows_ = 0;
};

}  // namespace

void write_critical_path(packet_file& file, export_job& job, tracks& of) {
  auto const paths = job.critical_path ? job.critical_path() : std::vector<traced_path>();
  path_slices slices(file, of);
  for (auto const& path : paths) slices.write(path);
}

}  // namespace gpuprof::host::perfetto
