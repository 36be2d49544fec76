// SPDX-License-Identifier: Apache-2.0
// Writes the work of the GPUs, the calls that launched it, the arrows between them, and the
// counters that were read around launches.
#pragma once

#include "base/time.hpp"
#include "capture/reader.hpp"
#include "host/analysis/launch_metrics.hpp"
#include "host/export/chrome/event_writer.hpp"
#include "host/export/chrome/rows.hpp"
#include "host/export/correlation_set.hpp"
#include "host/export/export_job.hpp"
#include "host/reading/ordered_rows.hpp"
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

// Launches: the call that launched a piece of work, and the counters that were read around it.

/// Finds the call that launched some work by correlation id. Correlation ids are counted up, and a
/// GPU is never a million calls behind. So there is one slot for each id modulo a million, however
/// long the capture is.
class launch_calls {
 public:
  struct call {
    std::uint64_t start = 0;  // ns; 0: no call
    std::uint32_t correlation = 0;
    std::uint32_t row = 0;     // thread number of its track
    std::uint32_t length = 0;  // ns; no longer than 4 s
    bool awaits_reading = false;
    bool has_arrow = false;  // an arrow begins at this call
  };

  /// Replaces an older call in the slot. That one goes to `pushed_out` if it awaits a reading.
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
  /// Returns null if the call is not known.
  call* find(correlation_id correlation) noexcept {
    auto& slot = slots_[raw(correlation) % slots_.size()];
    return slot.start != 0 && slot.correlation == raw(correlation) ? &slot : nullptr;
  }

 private:
  std::vector<call> slots_ = std::vector<call>(std::size_t{1} << 20);
};

/// Writes hardware counters of launches as Kineto did with CUPTI's range profiler.
/// HolisticTraceAnalysis joins one event to each launch, in order of time.
///
/// Counters are read around some launches of each kernel and geometry. An event has the means of
/// its kernel and geometry; without any, it has no counters.
class launch_readings {
 public:
  launch_readings(export_job& job, event_writer& to, quoted_names& names, cpu_rows& rows);

  /// True if the capture has readings.
  bool any() const noexcept { return metrics_.has_value(); }
  /// True if write() wants the event of this call.
  bool awaits(api_record const& call);
  void write(launch_calls::call const& call, kernel_record const& kernel);
  /// For a launch whose kernel is not in the capture.
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

class gpu_events {
 public:
  gpu_events(export_job& job, event_writer& to, quoted_names& names, cpu_rows& cpu, gpu_rows& gpu);
  void write();

  bool has_calls() const noexcept { return ordered_calls_.has_value(); }
  std::uint64_t calls_made() const noexcept { return calls_made_; }
  /// True if ranges are missing on the rows of the GPUs.
  bool lacks_annotations() const noexcept { return annotations_.left_out(); }

 private:
  /// The text that all events of a shape share on one device.
  struct kernel_text {
    std::string_view name;
    std::string facts;
  };

  void take(kernel_record const& kernel);
  void take(graph_record const& graph);
  void take(copy_record const& copy);
  void take(memset_record const& fill);
  void take(sync_record const& wait);

  launch_calls::call& remember(correlation_id correlation, track row, timestamp_ns start,
                               std::uint64_t length, bool awaits_reading);
  void see_calls_until(timestamp_ns moment);
  template <class Work>
  launch_calls::call* launch_of(Work const& work, std::string_view function);
  template <class Work>
  void write_work(std::string_view category, std::string_view name, Work const& work,
                  std::string_view function, std::string_view facts);
  template <class Work>
  void append_launch(text_buffer& out, Work const& work, launch_calls::call const* call);
  /// Draws an arrow from the call, if it is known, to work that has a length.
  void point(launch_calls::call* call, track to, timestamp_ns start, std::uint64_t length);
  kernel_text const& kernel_text_of(shape_id shape, device_id device);
  std::string_view kernel_name(shape_id shape);
  device_id device_of(context_id context) const;

  export_job& job_;
  event_writer& to_;
  cpu_rows& cpu_;
  gpu_rows& gpu_;
  quoted_names& names_;
  call_rows call_rows_;
  launch_calls calls_;
  correlation_set recorded_;  // ids of the calls of the capture
  launch_readings readings_;
  gpu_annotations annotations_;
  std::optional<ordered_rows<api_record>> ordered_calls_;
  std::uint64_t calls_made_ = 0;
  std::map<device_id, std::uint32_t> processors_;  // SMs
  std::map<context_id, device_id> devices_;
  std::map<device_id, std::vector<std::optional<kernel_text>>> texts_;  // by device, then by shape
  std::unordered_map<name_id, std::string> kernel_names_;
  std::string facts_;  // of the event being written; reused
};

}  // namespace gpuprof::host::chrome
