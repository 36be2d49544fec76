// SPDX-License-Identifier: Apache-2.0
// Hardware counters: read around one launch, and sampled on the whole GPU.
#pragma once

#include "host/analysis/launch_metrics.hpp"
#include "host/export/export_job.hpp"
#include "host/export/perfetto/packets.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::perfetto {

/// The description of a counter in the file.
struct counter_spec {
  std::uint32_t id = 0;  // unique in the file
  std::string name;
  std::int32_t group = 0;
};

/// Perfetto joins counters and kernels by time only, whatever else ran then. So readings that
/// reports discard are not written.
class counter_readings {
 public:
  counter_readings(packet_file& file, export_job& job);

  /// Finds out for all GPU work what ran at the same time. Call it first.
  void judge();

  /// Writes 0 where the kernel starts and the counted values where it ends.
  void add(kernel_record const& kernel) { add_work(kernel); }
  void add(graph_record const& graph) { add_work(graph); }
  void add(copy_record const&) {}
  void add(memset_record const&) {}

  void add_notes(export_notes& to) const;

 private:
  template <class Row>
  void add_work(Row const& row);
  bool is_told_by(kernel_record const& row) const;
  bool is_told_by(graph_record const& row) const;
  void write(device_id device, timestamp_ns start, timestamp_ns end, correlation_id correlation);

  packet_file& file_;
  export_job& job_;
  launch_metrics joined_;
  std::unordered_map<std::uint32_t, timestamp_ns> opened_;  // by correlation; not yet written
  std::vector<reading_value_record> values_;                // by correlation
  std::vector<counter_spec> specs_;
  std::set<metric_id> patching_;  // these count by patching the kernel
  std::map<device_id, sequence> sequences_;
  bool introduced_ = false;
};

/// Writes counts as rates, so that a value does not depend on the length of its interval. The
/// counters have their own names, because Perfetto's compute tabs show what was counted around one
/// kernel.
void write_counter_samples(packet_file& file, export_job& job);

}  // namespace gpuprof::host::perfetto
