// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"
#include "host/analysis/api_summary.hpp"
#include "host/export/perfetto/packets.hpp"
#include "host/export/perfetto/tracks.hpp"
#include "host/export/perfetto/writers.hpp"
#include "host/reading/ordered_rows.hpp"

#include <algorithm>
#include <vector>

namespace gpuprof::host::perfetto {
namespace {

class api_calls {
 public:
  api_calls(packet_file& file, export_job& job, tracks& of, gpu_event_ids const& launched)
      : job_(job),
        tracks_(of),
        launched_(launched),
        calls_(file),
        names_(calls_),
        lanes_(calls_, of) {}

  void write() {
    row_progress progress(job_);
    ordered_rows<api_record> rows(job_.trace.file());
    std::vector<api_record> together;
    while (auto const* row = rows.next()) {
      together.assign(1, *row);
      while (rows.peek() != nullptr && rows.peek()->start == together.front().start)
        together.push_back(*rows.next());
      // The longer one is the caller of the other.
      std::stable_sort(together.begin(), together.end(),
                       [](auto const& a, auto const& b) { return a.duration > b.duration; });
      for (auto const& call : together) {
        add(call);
        progress.one();
      }
    }
    lanes_.finish();
  }

 private:
  void add(api_record const& call) {
    auto const name = names_.event(
        call.name, [&] { return std::string(without_version_suffix(job_.names.text(call.name))); });
    auto const category =
        names_.category(call.domain == api_domain::runtime ? "cuda_runtime" : "cuda_driver");
    auto const length = std::max(call.duration, duration_ns{});
    lanes_.add(tracks_.thread(call.os_thread), "CUDA API", call.start, call.start + length,
               [&](message<track_event>& event) {
                 event.add_uint64(track_event::name_iid, name);
                 event.add_uint64(track_event::category_iids, category);
                 if (call.result != 0) add_result(event, call.result);
                 add_launched(event, call.correlation);
               });
  }
  void add_result(message<track_event>& event, std::int32_t result) {
    message<debug_annotation> note(event, track_event::debug_annotations);
    note.add_string(debug_annotation::name, "result");
    note.add_int64(debug_annotation::int_value, result);
  }
  void add_launched(message<track_event>& event, correlation_id correlation) {
    auto const count = raw(correlation) != 0 ? launched_.count(correlation) : 0;
    if (count == 0) return;
    message<gpu_correlation> ids(event, track_event::gpu_correlation);
    for (std::uint64_t i = 0; i < count; ++i)
      ids.add_uint64(gpu_correlation::render_stage_submission_event_ids,
                     gpu_event_ids::id(correlation, i));
  }

  export_job& job_;
  tracks& tracks_;
  gpu_event_ids const& launched_;
  sequence calls_;
  event_names names_;
  slice_lanes lanes_;
};

}  // namespace

void write_api_calls(packet_file& file, export_job& job, tracks& of,
                     gpu_event_ids const& launched) {
  api_calls(file, job, of, launched).write();
}

}  // namespace gpuprof::host::perfetto
