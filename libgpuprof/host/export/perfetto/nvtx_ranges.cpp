// SPDX-License-Identifier: Apache-2.0
#include "base/readable.hpp"
#include "host/export/perfetto/packets.hpp"
#include "host/export/perfetto/tracks.hpp"
#include "host/export/perfetto/writers.hpp"
#include "host/reading/time_merge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gpuprof::host::perfetto {
namespace {

/// Writes begins and ends as they come, so neither lengths nor the tree of ranges are needed.
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
    // One track for all ranges that are pushed and popped; those that are started and ended may
    // overlap.
    std::vector<std::unique_ptr<range_track>> all;
  };
  struct open_range {
    range_track* on = nullptr;
    std::uint64_t begun = 0;  // number of ranges begun before it
  };
  /// The events of one moment, in the order of the capture.
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
  std::unordered_set<std::uint64_t> ended_early_;       // the clock stepped back in these
  std::uint64_t begun_ = 0, cut_ = 0;
};

/// Adds an event to a track; `describe` fills it in.
template <class Describe>
void add_event(sequence& to, timestamp_ns at, std::int32_t type, track_id track,
               Describe&& describe) {
  to.add(at, [&](message<packet>& out) {
    message<track_event> event(out, packet::track_event);
    event.add_enum(track_event::type, type);
    event.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(track));
    describe(event);
  });
}

std::string color_text(std::uint32_t argb) {
  char text[16];
  std::snprintf(text, sizeof text, "#%08x", argb);
  return text;
}

nvtx_ranges::nvtx_ranges(packet_file& file, export_job& job, tracks& of)
    : job_(job), tracks_(of), events_(file), names_(events_) {
  job.trace.file().for_each<category_record>([&](std::span<category_record const> rows) {
    for (auto const& row : rows) categories_[{row.domain, row.category}] = row.name;
  });
}

void nvtx_ranges::write() {
  row_progress progress(job_);
  timestamp_ns at{};
  auto const move_to = [&](timestamp_ns time) {
    if (time == at) return;
    write_moment(at);
    at = time;
  };
  struct collector {
    moment& now;
    void operator()(range_begin const& row) const { now.begins.push_back(row); }
    void operator()(range_end const& row) const { now.ends.push_back(row); }
    void operator()(mark_record const& row) const { now.marks.push_back(row); }
  };
  for_each_in_time<range_begin, range_end, mark_record>(job_.trace.file(), [&](auto const& row) {
    move_to(row.time);
    collector{now_}(row);
    progress.one();
  });
  write_moment(at);
}

/// Clocks are coarse: a range that ends at a moment usually ended before another began there.
void nvtx_ranges::write_moment(timestamp_ns at) {
  end_earlier(at);
  for (auto const& row : now_.begins) {
    begin(row);
    auto const ends_here = [&](range_end const& end) { return end.range == row.range; };
    if (ended_early_.erase(raw(row.range)) > 0 ||
        std::any_of(now_.ends.begin(), now_.ends.end(), ends_here))
      end(at, row.range);
  }
  for (auto const& row : now_.marks) mark(row);
  now_.begins.clear();
  now_.ends.clear();
  now_.marks.clear();
}

/// Ends the ranges that end now and began earlier, the last begun first.
void nvtx_ranges::end_earlier(timestamp_ns at) {
  std::vector<std::pair<std::uint64_t, range_id>> ending;
  for (auto const& row : now_.ends) {
    auto const found = open_.find(raw(row.range));
    auto const begins_here = [&](range_begin const& begin) { return begin.range == row.range; };
    if (found != open_.end())
      ending.emplace_back(found->second.begun, row.range);
    else if (std::none_of(now_.begins.begin(), now_.begins.end(), begins_here))
      ended_early_.insert(raw(row.range));
  }
  std::sort(ending.rbegin(), ending.rend());
  for (auto const& [begun, range] : ending) end(at, range);
}

nvtx_ranges::track_group& nvtx_ranges::group_of(thread_index thread, name_id domain,
                                                range_style style) {
  auto const [at, is_new] = groups_.try_emplace({thread, domain, style});
  auto& found = at->second;
  if (!is_new) return found;
  found.thread = tracks_.thread(thread);
  auto const& name = job_.names.text(domain);
  found.name = name.empty() ? "NVTX" : name;
  if (style == range_style::start_end) found.name += " (start, end)";
  return found;
}

nvtx_ranges::range_track& nvtx_ranges::free_track(track_group& among) {
  for (auto& track : among.all)
    if (track->open.empty()) return *track;
  among.all.push_back(
      std::make_unique<range_track>(range_track{tracks_.child_of(among.thread, among.name), {}}));
  return *among.all.back();
}

void nvtx_ranges::begin(range_begin const& row) {
  auto& group = group_of(row.thread, row.domain, row.style);
  auto& on = row.style == range_style::push_pop && !group.all.empty() ? *group.all.front()
                                                                      : free_track(group);
  add_event(events_, row.time, slice_begin, on.track,
            [&](message<track_event>& event) { describe(event, row); });
  on.open.push_back(row.range);
  open_[raw(row.range)] = {&on, begun_++};
}

/// If the ends of ranges pushed after it were lost, they end with it.
void nvtx_ranges::end(timestamp_ns at, range_id range) {
  auto const found = open_.find(raw(range));
  if (found == open_.end()) return;
  auto& on = *found->second.on;
  for (bool is_last = false; !is_last && !on.open.empty(); on.open.pop_back()) {
    is_last = on.open.back() == range;
    cut_ += !is_last;
    add_event(events_, at, slice_end, on.track, [](auto&) {});
    open_.erase(raw(on.open.back()));
  }
}

void nvtx_ranges::mark(mark_record const& row) {
  auto& group = group_of(row.thread, row.domain, range_style::push_pop);
  auto const track = group.all.empty() ? free_track(group).track : group.all.front()->track;
  add_event(events_, row.time, instant, track,
            [&](message<track_event>& event) { describe(event, row); });
}

template <class Row>
void nvtx_ranges::describe(message<track_event>& event, Row const& row) {
  auto const& text = [&]() -> std::string const& { return job_.names.text(row.name); };
  event.add_uint64(track_event::name_iid, names_.event(row.name, text));
  event.add_uint64(track_event::category_iids, names_.category("nvtx"));
  if (row.payload != payload_kind::none) add_payload(event, row);
  auto const add_text = [&](char const* name, std::string const& value) {
    message<debug_annotation> note(event, track_event::debug_annotations);
    note.add_uint64(debug_annotation::name_iid, names_.annotation(name));
    note.add_string(debug_annotation::string_value, value);
  };
  if (row.category != 0) add_text("category", category_name(row.domain, row.category));
  if (row.color != 0) add_text("color", color_text(row.color));
  if constexpr (requires { row.declared_flops; }) {
    auto const add_number = [&](char const* name, double value) {
      if (value == 0) return;
      message<debug_annotation> note(event, track_event::debug_annotations);
      note.add_uint64(debug_annotation::name_iid, names_.annotation(name));
      note.add_double(debug_annotation::double_value, value);
    };
    add_number("flops", row.declared_flops);
    add_number("bytes", row.declared_bytes);
  }
}

template <class Row>
void nvtx_ranges::add_payload(message<track_event>& event, Row const& row) {
  message<debug_annotation> note(event, track_event::debug_annotations);
  note.add_uint64(debug_annotation::name_iid, names_.annotation("payload"));
  switch (row.payload) {
    case payload_kind::unsigned64:
      return note.add_uint64(debug_annotation::uint_value, row.payload_bits);
    case payload_kind::signed64:
      return note.add_int64(debug_annotation::int_value,
                            static_cast<std::int64_t>(row.payload_bits));
    case payload_kind::float64:
      return note.add_double(debug_annotation::double_value,
                             std::bit_cast<double>(row.payload_bits));
    case payload_kind::text:
      return note.add_string(debug_annotation::string_value,
                             job_.names.text(static_cast<name_id>(row.payload_bits)));
    case payload_kind::none:
      break;
  }
}

std::string nvtx_ranges::category_name(name_id domain, std::uint32_t category) const {
  auto const named = categories_.find({domain, category});
  return named != categories_.end() ? job_.names.text(named->second) : std::to_string(category);
}

void nvtx_ranges::add_notes(export_notes& to) const {
  if (cut_ > 0)
    to.push_back(counted(cut_, "NVTX ranges") +
                 " cut off where the range around ends: no end of its own is in the capture");
}

}  // namespace

void write_nvtx_ranges(packet_file& file, export_job& job, tracks& of, export_notes& notes) {
  nvtx_ranges ranges(file, job, of);
  ranges.write();
  ranges.add_notes(notes);
}

}  // namespace gpuprof::host::perfetto
