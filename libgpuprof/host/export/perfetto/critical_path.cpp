// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/api_summary.hpp"
#include "host/export/perfetto/packets.hpp"
#include "host/export/perfetto/tracks.hpp"
#include "host/export/perfetto/writers.hpp"

#include <algorithm>
#include <map>
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

/// A track with a slice for each step, and below it a track for each stream and thread. Arrows lead
/// from each slice of a path to the next one.
class path_slices {
 public:
  path_slices(packet_file& file, tracks& of)
      : tracks_(of),
        slices_(file),
        names_(slices_),
        lanes_(slices_, of),
        root_(of.child_of(of.process(), root_name)) {}

  void write(std::vector<traced_path> const& paths) {
    std::vector<slice> all;
    for (auto const& path : paths) {
      all.push_back({path.begin, path.end, &path, nullptr, 0, 0});
      for (std::size_t i = 0; i < path.links.size(); ++i) {
        auto const& link = path.links[i];
        all.push_back({link.begin, link.end, &path, &link, i > 0 ? last_arrow_ : 0,
                       i + 1 < path.links.size() ? ++last_arrow_ : 0});
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](auto const& a, auto const& b) { return a.begin < b.begin; });
    for (auto const& one : all) one.link == nullptr ? add_step(one) : add_link(one);
    lanes_.finish();
  }

 private:
  static constexpr std::string_view root_name = "Critical path", category = "critical_path";

  struct slice {
    timestamp_ns begin, end;
    traced_path const* path = nullptr;
    traced_link const* link = nullptr;  // null: the whole step
    std::uint64_t arrow_from = 0, arrow_to = 0;
  };

  void add_step(slice const& one) {
    auto const title = std::string(one.path->is_slowest ? "slowest" : "median") + " of " +
                       std::to_string(one.path->steps) + " steps \"" + one.path->step + "\"";
    lanes_.add(root_, root_name, one.begin, one.end, [&](message<track_event>& event) {
      event.add_uint64(track_event::name_iid, names_.event(title));
      event.add_uint64(track_event::category_iids, names_.category(category));
    });
  }

  void add_link(slice const& one) {
    auto const place = place_of(*one.link);
    auto const [at, is_new] = places_.try_emplace(place);
    if (is_new) at->second = tracks_.child_of(root_, place);
    lanes_.add(at->second, place, one.begin, one.end, [&](message<track_event>& event) {
      event.add_uint64(track_event::name_iid, names_.event(name_of(*one.link)));
      event.add_uint64(track_event::category_iids, names_.category(category));
      {
        message<debug_annotation> note(event, track_event::debug_annotations);
        note.add_uint64(debug_annotation::name_iid, names_.annotation("kind"));
        note.add_string(debug_annotation::string_value, one.link->kind.data(),
                        one.link->kind.size());
      }
      if (one.arrow_from != 0) event.add_fixed64(track_event::terminating_flow_ids, one.arrow_from);
      if (one.arrow_to != 0) event.add_fixed64(track_event::flow_ids, one.arrow_to);
    });
  }

  tracks& tracks_;
  sequence slices_;
  event_names names_;
  slice_lanes lanes_;
  track_id root_;
  std::map<std::string, track_id> places_;
  std::uint64_t last_arrow_ = 0;
};

}  // namespace

void write_critical_path(packet_file& file, export_job& job, tracks& of) {
  auto const paths = job.critical_path ? job.critical_path() : std::vector<traced_path>();
  if (!paths.empty()) path_slices(file, of).write(paths);
}

}  // namespace gpuprof::host::perfetto
