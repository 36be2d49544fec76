// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/tracks.hpp"

#include "base/utf8.hpp"
#include "host/export/perfetto/fields.hpp"

#include <algorithm>

namespace gpuprof::host::perfetto {
namespace {

/// Adds a packet with the description of a track; `fill` fills it in.
template <class Fill>
void add_description(packet_file& file, track_id id, Fill&& fill) {
  std::string bytes;
  {
    message<packet> out(bytes);
    message<track_descriptor> track(out, packet::track_descriptor);
    track.add_uint64(track_descriptor::uuid, static_cast<std::uint64_t>(id));
    fill(track);
  }
  file.add(bytes);
}

std::string file_name_of(std::string const& path) {
  return path.substr(path.rfind('/') + 1);
}

/// Returns labels such as "rank 3 of 8", "on node17".
std::vector<std::string> labels_of(trace_contents const& trace) {
  std::vector<std::string> labels;
  if (auto const rank = trace.fact("environment.RANK"); !rank.empty()) {
    auto const size = trace.fact("environment.WORLD_SIZE");
    labels.push_back("rank " + rank + (size.empty() ? "" : " of " + size));
  }
  if (auto const host = trace.fact("host"); !host.empty()) labels.push_back("on " + host);
  return labels;
}

}  // namespace

// Ids begin with that of the process, so that traces of several can be shown as one.
tracks::tracks(packet_file& file, export_job& job)
    : file_(file),
      job_(job),
      process_id_(std::max(job.trace.process_id(), std::uint32_t{1})),
      last_(std::uint64_t{process_id_} << 24),
      process_(next()) {
  job.trace.file().for_each<thread_record>([&](std::span<thread_record const> rows) {
    for (auto const& row : rows) thread_names_[row.os_thread] = job.names.text(row.name);
  });
  describe_process();
}

track_id tracks::next() {
  return static_cast<track_id>(++last_);
}

void tracks::describe_process() {
  auto const& trace = job_.trace;
  add_description(file_, process_, [&](message<track_descriptor>& track) {
    message<process_descriptor> process(track, track_descriptor::process);
    process.add_int32(process_descriptor::pid, static_cast<std::int32_t>(process_id_));
    if (auto const command = trace.fact("process.command_line"); !command.empty())
      process.add_string(process_descriptor::cmdline, valid_utf8(command));
    if (auto const program = trace.fact("process.program"); !program.empty())
      process.add_string(process_descriptor::process_name, valid_utf8(file_name_of(program)));
    for (auto const& label : labels_of(trace))
      process.add_string(process_descriptor::process_labels, valid_utf8(label));
  });
}

track_id tracks::thread(std::uint32_t os_thread) {
  if (os_thread == 0) return process_;
  auto const [at, is_new] = threads_.try_emplace(os_thread);
  if (!is_new) return at->second;
  at->second = next();
  add_description(file_, at->second, [&](message<track_descriptor>& track) {
    track.add_uint64(track_descriptor::parent_uuid, static_cast<std::uint64_t>(process_));
    message<thread_descriptor> thread(track, track_descriptor::thread);
    thread.add_int32(thread_descriptor::pid, static_cast<std::int32_t>(process_id_));
    thread.add_int64(thread_descriptor::tid, os_thread);
    if (auto const& name = thread_names_[os_thread]; !name.empty())
      thread.add_string(thread_descriptor::thread_name, name);
  });
  return at->second;
}

track_id tracks::child_of(track_id parent, std::string_view name) {
  auto const id = next();
  add_description(file_, id, [&](message<track_descriptor>& track) {
    track.add_uint64(track_descriptor::parent_uuid, static_cast<std::uint64_t>(parent));
    track.add_string(track_descriptor::name, name.data(), name.size());
  });
  return id;
}

template <class AddUnit>
track_id tracks::add_counter(std::string_view name, AddUnit add_unit) {
  auto const id = next();
  add_description(file_, id, [&](message<track_descriptor>& track) {
    track.add_uint64(track_descriptor::parent_uuid, static_cast<std::uint64_t>(process_));
    track.add_string(track_descriptor::name, name.data(), name.size());
    message<counter_descriptor> of(track, track_descriptor::counter);
    add_unit(of);
  });
  return id;
}

track_id tracks::counter_in_bytes(std::string_view name) {
  return add_counter(
      name, [](auto& counter) { counter.add_enum(counter_descriptor::unit, unit_size_bytes); });
}

track_id tracks::counter(std::string_view name, std::string_view unit) {
  return add_counter(name, [&](auto& counter) {
    counter.add_string(counter_descriptor::unit_name, unit.data(), unit.size());
  });
}

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

}  // namespace gpuprof::host::perfetto
