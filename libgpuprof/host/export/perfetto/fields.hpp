// SPDX-License-Identifier: Apache-2.0
// The fields of Perfetto's trace format that are written, by the names and numbers of its protos.
#pragma once

#include <cstdint>
#include <protozero/pbf_builder.hpp>

namespace gpuprof::host::perfetto {

using field_number = protozero::pbf_tag_type;

enum class trace : field_number { packet = 1 };

enum class packet : field_number {
  clock_snapshot = 6,
  timestamp = 8,
  trusted_packet_sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  compressed_packets = 50,
  gpu_counter_event = 52,
  gpu_render_stage_event = 53,
  trace_packet_defaults = 59,
  track_descriptor = 60,
  first_packet_on_sequence = 87,
  trace_uuid = 89,
  gpu_info = 128,
};
// Values of sequence_flags.
inline constexpr std::uint32_t interned_anew = 1, needs_interned = 2;

enum class clock_snapshot : field_number { clocks = 1, primary_trace_clock = 2 };
enum class clock : field_number { clock_id = 1, timestamp = 2, is_incremental = 3 };
// Values of clock_id; those from 64 on belong to one sequence.
inline constexpr std::uint32_t realtime_clock = 1, monotonic_clock = 3, sequence_clock = 64;
enum class packet_defaults : field_number { timestamp_clock_id = 58 };
enum class trace_uuid : field_number { msb = 1, lsb = 2 };

enum class track_descriptor : field_number {
  uuid = 1,
  name = 2,
  process = 3,
  thread = 4,
  parent_uuid = 5,
  counter = 8
};
enum class process_descriptor : field_number {
  pid = 1,
  cmdline = 2,
  process_name = 6,
  process_labels = 8
};
enum class thread_descriptor : field_number { pid = 1, tid = 2, thread_name = 5 };
enum class counter_descriptor : field_number { unit = 3, unit_name = 6 };
inline constexpr std::int32_t unit_size_bytes = 3;

enum class track_event : field_number {
  category_iids = 3,
  debug_annotations = 4,
  type = 9,
  name_iid = 10,
  track_uuid = 11,
  counter_value = 30,
  double_counter_value = 44,
  flow_ids = 47,
  terminating_flow_ids = 48,
  gpu_correlation = 3000,  // an extension
};
inline constexpr std::int32_t slice_begin = 1, slice_end = 2, instant = 3, counter = 4;
enum class gpu_correlation : field_number { render_stage_submission_event_ids = 1 };
enum class debug_annotation : field_number {
  name_iid = 1,
  uint_value = 3,
  int_value = 4,
  double_value = 5,
  string_value = 6,
  name = 10,
};

enum class interned_data : field_number {
  event_categories = 1,
  event_names = 2,
  debug_annotation_names = 3,
  graphics_contexts = 23,
  gpu_specifications = 24,
  compute_kernels = 1000,    // an extension
  compute_arg_names = 1001,  // an extension
};
enum class interned_name : field_number { iid = 1, name = 2 };
enum class graphics_context : field_number { iid = 1, pid = 2, api = 3 };
inline constexpr std::int32_t api_cuda = 4;
enum class gpu_specification : field_number { iid = 1, name = 2, description = 3, category = 4 };
inline constexpr std::int32_t category_other = 0, category_compute = 2;
enum class compute_kernel : field_number {
  iid = 1,
  name = 2,
  demangled_name = 3,
  arch = 4,
  args = 5
};

enum class render_stage : field_number {
  event_id = 1,
  duration = 2,
  context = 5,
  extra_data = 6,
  gpu_id = 11,
  hw_queue_iid = 13,
  stage_iid = 14,
  kernel_iid = 19,
  launch = 21,
};
enum class extra_data : field_number { name = 1, value = 2 };
enum class compute_launch : field_number { grid_size = 1, workgroup_size = 2, args = 3 };
enum class dim3 : field_number { x = 1, y = 2, z = 3 };
enum class compute_arg : field_number { name_iid = 1, uint_value = 4, string_value = 6 };

enum class gpu_counter_event : field_number { counter_descriptor = 1, counters = 2, gpu_id = 3 };
enum class gpu_counter : field_number { counter_id = 1, double_value = 3 };
enum class gpu_counter_descriptor : field_number { specs = 1 };
enum class gpu_counter_spec : field_number {
  counter_id = 1,
  name = 2,
  description = 3,
  numerator_units = 7,
  denominator_units = 8,
  groups = 10,
};
inline constexpr std::int32_t group_system = 1, group_memory = 5, group_compute = 6;
inline constexpr std::int32_t unit_byte = 7, unit_hertz = 13, unit_nanosecond = 19,
                              unit_second = 22, unit_percent = 37, unit_instruction = 40;

enum class gpu_info : field_number { gpus = 1 };
enum class gpu : field_number {
  name = 1,
  vendor = 2,
  model = 3,
  architecture = 4,
  uuid = 5,
  extra_info = 6,
  pci_bdf = 7
};
enum class gpu_extra : field_number { key = 1, value = 2 };

template <class Fields>
using message = protozero::pbf_builder<Fields>;

}  // namespace gpuprof::host::perfetto
