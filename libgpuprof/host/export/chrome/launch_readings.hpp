// SPDX-License-Identifier: Apache-2.0
// Hardware counters of launches, as Kineto wrote them with CUPTI's range profiler:
// HolisticTraceAnalysis joins one such event to each launch, in order of time.
#pragma once

#include "host/analysis/launch_metrics.hpp"
#include "host/export/chrome/cpu_events.hpp"
#include "host/export/chrome/launch_calls.hpp"
#include "host/export/export_job.hpp"

#include <map>
#include <optional>
#include <string>

namespace gpuprof::chrome {

/// Counters are read around some launches of each kernel and geometry. An event has the means of
/// its own; a launch of which nothing was read has an event without counters.
class launch_readings {
 public:
  launch_readings(export_job& job, event_writer& to, quoted_names& names, cpu_rows& rows);

  /// Whether the capture has any.
  bool any() const noexcept { return metrics_.has_value(); }
  /// Whether the event of such a call is for write().
  bool awaits(api_record const& call);
  void write(launch_calls::call const& call, kernel_record const& kernel);
  /// Of a launch whose kernel is not in the capture.
  void write(launch_calls::call const& call);

 private:
  std::string const& values_of(workload_id const& workload);
  void write(launch_calls::call const& call, std::string_view operation, std::string_view name,
             std::string_view values);
  std::string operation_of(kernel_record const& kernel);

  export_job& job_;
  event_writer& to_;
  quoted_names& names_;
  cpu_rows& rows_;
  std::optional<launch_metrics> metrics_;
  std::map<workload_id, std::string> values_;
  std::unordered_map<name_id, bool> is_launch_;
};

}  // namespace gpuprof::chrome
