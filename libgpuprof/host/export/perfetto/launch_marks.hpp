// SPDX-License-Identifier: Apache-2.0
// Where threads launched GPU work, for captures without the calls of launches.
#pragma once

#include "host/export/perfetto/sequence.hpp"
#include "host/export/perfetto/tracks.hpp"

namespace gpuprof::perfetto {

/// An instant on the thread, with an arrow to what it launched. Where all API calls are there they
/// have the arrows, and this writes nothing.
class launch_marks {
 public:
  launch_marks(packet_file& file, export_job& job, tracks& of)
      : marks_(file), tracks_(of), wanted_(job.trace.calls() != captured_calls::all) {}

  template <class Row>
  void add(Row const& row, std::uint64_t event) {
    if (wanted_ && row.launched.value != 0 && raw(row.thread) != 0)
      add(row.launched, tracks_.thread(row.thread), event);
  }

 private:
  void add(timestamp_ns at, track_id thread, std::uint64_t event);

  sequence marks_;
  tracks& tracks_;
  bool wanted_ = false;
  bool named_ = false;
};

}  // namespace gpuprof::perfetto
