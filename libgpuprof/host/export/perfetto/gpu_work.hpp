// SPDX-License-Identifier: Apache-2.0
// Kernels, copies, fills and graphs as render stages, each in the row of its stream.
#pragma once

#include "host/export/perfetto/counter_readings.hpp"
#include "host/export/perfetto/gpu_event_ids.hpp"
#include "host/export/perfetto/gpu_names.hpp"
#include "host/export/perfetto/launch_marks.hpp"

#include <memory>

namespace gpuprof::perfetto {

class gpu_work {
 public:
  gpu_work(packet_file& file, export_job& job, tracks& of);

  void write();
  /// After write(): what each call has launched.
  gpu_event_ids const& ids() const noexcept { return *ids_; }
  void add_notes(export_notes& to) const { readings_.add_notes(to); }

 private:
  void add(kernel_record const& kernel);
  void add(copy_record const& copy);
  void add(memset_record const& fill);
  void add(graph_record const& graph);
  template <class Row, class Fill>
  void add_event(Row const& row, gpu_place const& place, std::uint64_t stage, Fill&& fill);
  template <class Row>
  void add_plain(Row const& row, std::string const& name, std::int32_t category,
                 std::string const& arguments);

  export_job& job_;
  sequence stages_;
  gpu_names names_;
  std::unique_ptr<gpu_event_ids> ids_ = std::make_unique<gpu_event_ids>();
  launch_marks marks_;
  counter_readings readings_;
};

}  // namespace gpuprof::perfetto
