// SPDX-License-Identifier: Apache-2.0
// What the GPUs did, with the calls that made them do it and the arrows between.
#pragma once

#include "host/export/chrome/cpu_rows.hpp"
#include "host/export/chrome/event_writer.hpp"
#include "host/export/chrome/gpu_rows.hpp"
#include "host/export/chrome/launches.hpp"
#include "host/export/correlation_set.hpp"
#include "host/export/export_job.hpp"
#include "host/reading/ordered_rows.hpp"

#include <optional>

namespace gpuprof::host::chrome {

class gpu_events {
 public:
  gpu_events(export_job& job, event_writer& to, quoted_names& names, cpu_rows& cpu, gpu_rows& gpu);
  void write();

  bool has_calls() const noexcept { return ordered_calls_.has_value(); }
  std::uint64_t calls_made() const noexcept { return calls_made_; }
  /// Whether ranges are missing on the rows of the GPUs.
  bool lacks_annotations() const noexcept { return annotations_.left_out(); }

 private:
  /// What the events of a shape have in common, but for the device.
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
  /// From the call, if it is known, to work that has a length.
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
  std::map<device_id, std::vector<std::optional<kernel_text>>> texts_;  // by shape
  std::unordered_map<name_id, std::string> kernel_names_;
  std::string facts_;  // of the event that is written, for reuse
};

}  // namespace gpuprof::host::chrome
