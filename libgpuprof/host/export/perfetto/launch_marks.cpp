// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/launch_marks.hpp"

namespace gpuprof::perfetto {
namespace {

constexpr std::uint64_t launch_name = 1, launch_category = 1;

void add_name(message<interned_data>& to, interned_data field, std::uint64_t iid,
              char const* name) {
  message<interned_name> one(to, field);
  one.add_uint64(interned_name::iid, iid);
  one.add_string(interned_name::name, name);
}

}  // namespace

void launch_marks::add(timestamp_ns at, track_id thread, std::uint64_t event) {
  if (!named_) {
    auto names = marks_.intern();
    add_name(names, interned_data::event_names, launch_name, "launch");
    add_name(names, interned_data::event_categories, launch_category, "cuda_launch");
    named_ = true;
  }
  marks_.add(at, [&](message<packet>& out) {
    message<track_event> mark(out, packet::track_event);
    mark.add_enum(track_event::type, instant);
    mark.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(thread));
    mark.add_uint64(track_event::name_iid, launch_name);
    mark.add_uint64(track_event::category_iids, launch_category);
    message<gpu_correlation>(mark, track_event::gpu_correlation)
        .add_uint64(gpu_correlation::render_stage_submission_event_ids, event);
  });
}

}  // namespace gpuprof::perfetto
