// SPDX-License-Identifier: Apache-2.0
// Launches: the call that launched a piece of work, and the counters that were read around it.
#pragma once

#include "base/time.hpp"
#include "capture/reader.hpp"
#include "host/analysis/launch_metrics.hpp"
#include "host/export/chrome/cpu_rows.hpp"
#include "host/export/chrome/event_writer.hpp"
#include "host/export/export_job.hpp"
#include "model/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::chrome {

/// Finds the call that launched something by their correlation. Correlations are counted up, and a
/// GPU is never a million calls behind: one slot for each number modulo a million, whatever the
/// length of the capture.
class launch_calls {
 public:
  struct call {
    std::uint64_t start = 0;  // ns; 0: no call
    std::uint32_t correlation = 0;
    std::uint32_t row = 0;     // a track's thread
    std::uint32_t length = 0;  // ns; no longer than 4 s
    bool awaits_reading = false;
    bool has_arrow = false;  // one begins there
  };

  /// In place of an older one, which goes to `pushed_out` if it awaits a reading.
  template <class PushedOut>
  call& add(correlation_id correlation, track row, timestamp_ns start, std::uint64_t length,
            bool awaits_reading, PushedOut pushed_out) {
    auto& slot = slots_[raw(correlation) % slots_.size()];
    if (slot.awaits_reading) pushed_out(slot);
    slot = {start.value,
            raw(correlation),
            static_cast<std::uint32_t>(row.thread),
            static_cast<std::uint32_t>(std::min<std::uint64_t>(length, ~std::uint32_t{0})),
            awaits_reading,
            false};
    return slot;
  }
  template <class F>
  void each_that_awaits(F f) {
    for (auto& slot : slots_)
      if (std::exchange(slot.awaits_reading, false)) f(slot);
  }
  /// Null: not known.
  call* find(correlation_id correlation) noexcept {
    auto& slot = slots_[raw(correlation) % slots_.size()];
    return slot.start != 0 && slot.correlation == raw(correlation) ? &slot : nullptr;
  }

 private:
  std::vector<call> slots_ = std::vector<call>(std::size_t{1} << 20);
};

/// Hardware counters of launches, as Kineto wrote them with CUPTI's range profiler:
/// HolisticTraceAnalysis joins one such event to each launch, in order of time.
///
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

}  // namespace gpuprof::host::chrome
