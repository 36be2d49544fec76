// SPDX-License-Identifier: Apache-2.0
#include "host/export/frames_of_threads.hpp"

#include "host/export/correlation_set.hpp"
#include "host/reading/time_merge.hpp"
#include "model/torch_ranges.hpp"

#include <span>
#include <string_view>
#include <type_traits>

namespace gpuprof::host {
namespace {

// As long as the calls that the Chrome export makes for launches without one.
constexpr std::int64_t unknown_call_ns = 1000;

/// Passes the rows of a capture on.
struct frame_rows {
  export_job& job;
  row_progress& progress;
  correlation_set const& recorded;
  std::function<bool(std::uint32_t)> const& is_cut;
  python_frames& frames;

  template <class Row>
  void operator()(Row const& row) {
    if constexpr (std::is_same_v<Row, api_record> || std::is_same_v<Row, thread_sample_record>)
      frames.add(row);
    else if constexpr (requires { row.launched; })
      frames.add(row, job.trace.os_thread(row.thread),
                 recorded.contains(row.correlation) ? 0 : unknown_call_ns);
    else if (auto const thread = job.trace.os_thread(row.thread); is_cut(thread))
      frames.cut(thread, row.time);
    progress.one();
  }
};

/// The path from a folder of packages on, else as Python has it.
std::string_view shortened(std::string_view file) noexcept {
  for (std::string_view const folder : {"/site-packages/", "/dist-packages/"})
    if (auto const at = file.rfind(folder); at != file.npos) return file.substr(at + folder.size());
  if (auto const at = file.find("/lib/python3"); at != file.npos)
    if (auto const end = file.find('/', at + 8); end != file.npos) return file.substr(end + 1);
  return file;
}

}  // namespace

frames_of_threads::frames_of_threads(export_job& job) : job_(job), stacks_(job.trace.stacks()) {}

void frames_of_threads::read(std::function<bool(std::uint32_t)> const& is_cut,
                             python_frames::receiver const& begun,
                             python_frames::receiver const& ended) {
  if (!any()) return;
  python_frames frames(stacks_, begun, ended);
  row_progress progress(job_);
  auto const recorded = ids_of_calls(job_.trace.file());
  for_each_in_time<range_begin, range_end, api_record, kernel_record, graph_record, copy_record,
                   memset_record, thread_sample_record>(
      job_.trace.file(), frame_rows{job_, progress, recorded, is_cut, frames});
  frames.finish();
  progress.end();
}

std::string frames_of_threads::name_of(stack_id id) const {
  auto const& row = frame(id);
  auto name = std::string(shortened(job_.names.text(row.file)));
  name += '(' + std::to_string(row.line) + "): ";
  return name += job_.names.text(row.function);
}

std::set<std::uint32_t> threads_with_operators(export_job& job) {
  std::set<std::uint32_t> threads;
  job.trace.file().for_each<range_begin>(
      [&](std::span<range_begin const> rows) {
        for (auto const& row : rows)
          if (job.names.text(row.domain) == torch_domain)
            threads.insert(job.trace.os_thread(row.thread));
      },
      capture::only(&range_begin::domain, &range_begin::thread));
  return threads;
}

}  // namespace gpuprof::host
