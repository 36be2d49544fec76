// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/writers.hpp"
#include "host/export/frames_of_threads.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::chrome {
namespace {

/// Readers nest slices of equal times in the order of the file. So frames are written when they
/// begin, before calls, and a first pass notes where each ends.
///
/// Operators are called from Python frames, and a frame calls several: their threads have a row for
/// frames. On other threads frames end at the borders of ranges, so they are on the thread's row.
class python_events {
 public:
  python_events(export_job& job, event_writer& to, cpu_rows& rows)
      : job_(job), to_(to), rows_(rows), frames_(job) {}

  void write() {
    if (!frames_.any()) return;
    auto const beside = threads_with_operators(job_);
    auto const is_cut = [&](std::uint32_t thread) { return !beside.contains(thread); };
    auto const ignore = [](python_frame const&) {};
    std::vector<timestamp_ns> ends;  // by id
    frames_.read(is_cut, ignore, [&](python_frame const& frame) {
      if (ends.size() < frame.id) ends.resize(frame.id);
      ends[frame.id - 1] = frame.end;
    });
    frames_.read(
        is_cut,
        [&](python_frame frame) {
          frame.end = ends[frame.id - 1];
          write(frame, is_cut(frame.os_thread)
                           ? rows_.of_system_thread(frame.os_thread)
                           : rows_.further(frame.os_thread, further_use::python, 0));
        },
        ignore);
  }

 private:
  void write(python_frame const& frame, track at) {
    auto const [name, is_new] = names_.try_emplace(raw(frame.frame));
    if (is_new) name->second = quoted(frames_.name_of(frame.frame));
    argument_list args(to_.begin_slice(
        {"python_function", name->second, at, frame.start, frame.end.value - frame.start.value}));
    args.add_whole("Python id", frame.id);
    auto& parent = args.named("Python parent id");
    if (frame.parent != 0)
      append_whole(parent, frame.parent);
    else
      append(parent, "null");
    auto const& row = frames_.frame(frame.frame);
    if (raw(row.module) != 0) args.add_text("module", job_.names.text(row.module));
    if (at.thread != frame.os_thread) args.add_whole("thread", frame.os_thread);
    to_.end_slice();
  }

  export_job& job_;
  event_writer& to_;
  cpu_rows& rows_;
  frames_of_threads frames_;
  std::unordered_map<std::uint32_t, std::string> names_;  // as JSON, by stack_id
};

}  // namespace

void write_python(export_job& job, event_writer& to, cpu_rows& rows) {
  python_events(job, to, rows).write();
}

}  // namespace gpuprof::host::chrome
