// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/gpu_work.hpp"

#include "base/utf8.hpp"
#include "host/analysis/memory_summary.hpp"
#include "host/reading/time_merge.hpp"

#include <algorithm>
#include <cstdio>

namespace gpuprof::host::perfetto {
namespace {

// Sorted by number. Perfetto's compute tabs look for some of these names.
constexpr std::string_view argument_names[] = {
    "device",
    "stream",
    "registers_per_thread",
    "shared_mem_static",
    "shared_mem_dynamic",
    "local_memory_per_thread",
    "cluster_size",
    "grid_size",
    "workgroup_size",
    "thread_count",
    "process_name",
    "process_id",
    "bytes",
    "value",
    "source_kind",
    "destination_kind",
    "source_device",
    "destination_device",

};

std::uint64_t size_of(extent3 const& extent) noexcept {
  return std::uint64_t{extent.x} * extent.y * extent.z;
}

std::string extent_text(extent3 const& extent) {
  return std::to_string(extent.x) + "x" + std::to_string(extent.y) + "x" + std::to_string(extent.z);
}

void add_extent(message<compute_launch>& to, compute_launch field, extent3 const& extent) {
  message<dim3> one(to, field);
  one.add_uint32(dim3::x, extent.x);
  one.add_uint32(dim3::y, extent.y);
  one.add_uint32(dim3::z, extent.z);
}

std::string launch_of(kernel_shape const& shape) {
  std::string bytes;
  if (!shape.has_geometry()) return bytes;
  message<compute_launch> launch(bytes);
  add_extent(launch, compute_launch::grid_size, shape.grid);
  add_extent(launch, compute_launch::workgroup_size, shape.block);
  return bytes;
}

/// Perfetto takes context 0 as none, so contexts are shown by another number.
std::uint64_t number_of(context_id context) noexcept {
  return raw(context) != 0 ? raw(context) : std::uint64_t{1} << 31;
}

}  // namespace

gpu_names::gpu_names(export_job& job, sequence& on, std::uint32_t process_id)
    : job_(job), on_(on), process_id_(process_id) {
  auto const program = job.trace.fact("process.program");
  process_name_ = valid_utf8(program.substr(program.rfind('/') + 1));
  for (auto const& device : job.trace.devices())
    architectures_[raw(device.device)] =
        "sm_" + std::to_string(device.compute_major) + std::to_string(device.compute_minor);
  one_device_ = job.trace.devices().size() <= 1;
  std::unordered_map<std::uint32_t, std::uint32_t> contexts;  // by device
  job.trace.file().for_each<context_record>([&](std::span<context_record const> rows) {
    for (auto const& row : rows)
      if (++contexts[raw(row.device)] > 1) one_context_ = false;
  });
}

std::size_t gpu_names::hash::operator()(key const& of) const noexcept {
  auto mixed = (std::uint64_t{of.shape} << 32 | of.stream) * 0x9e3779b97f4a7c15u;
  mixed ^= (std::uint64_t{of.device} << 32 | of.context) * 0xc2b2ae3d27d4eb4fu;
  return mixed ^ mixed >> 32;
}

/// Older versions of Perfetto sort names as texts.
std::string gpu_names::queue_name(device_id device, context_id context, stream_id stream) const {
  std::string name;
  if (!one_device_) name += "GPU " + std::to_string(raw(device)) + " ";
  if (!one_context_) name += "context " + std::to_string(raw(context)) + " ";
  char number[16];
  std::snprintf(number, sizeof number, "%03u", raw(stream));
  return name + "stream " + number;
}

std::uint64_t gpu_names::add_specification(std::string_view name, std::string_view description,
                                           std::int32_t category) {
  auto data = on_.intern();
  message<gpu_specification> one(data, interned_data::gpu_specifications);
  one.add_uint64(gpu_specification::iid, ++specifications_);
  one.add_string(gpu_specification::name, name.data(), name.size());
  if (!description.empty())
    one.add_string(gpu_specification::description, description.data(), description.size());
  one.add_enum(gpu_specification::category, category);
  return specifications_;
}

gpu_place const& gpu_names::place(device_id device, context_id context, stream_id stream) {
  auto const [at, is_new] = places_.try_emplace(key{0, raw(device), raw(context), raw(stream)});
  auto& place = at->second;
  if (!is_new) return place;
  if (specifications_ == 0) add_argument_names();
  place.queue = add_specification(queue_name(device, context, stream), {}, category_other);
  place.context = number_of(context);
  if (contexts_.insert(place.context).second) {
    auto data = on_.intern();
    message<graphics_context> one(data, interned_data::graphics_contexts);
    one.add_uint64(graphics_context::iid, place.context);
    one.add_int32(graphics_context::pid, static_cast<std::int32_t>(process_id_));
    one.add_enum(graphics_context::api, api_cuda);
  }
  return place;
}

std::uint64_t gpu_names::stage(std::string const& name, std::int32_t category) {
  auto const [at, is_new] = stages_.try_emplace(name);
  if (is_new) at->second = add_specification(name, {}, category);
  return at->second;
}

std::uint64_t gpu_names::stage_of(exported_names::kernel const& kernel) {
  auto const [at, is_new] = stages_of_kernels_.try_emplace(raw(kernel.id));
  if (is_new) at->second = add_specification(kernel.base, kernel.demangled, category_compute);
  return at->second;
}

kernel_numbers const& gpu_names::of(kernel_record const& kernel) {
  auto const [at, is_new] = kernels_.try_emplace(
      key{raw(kernel.shape), raw(kernel.device), raw(kernel.context), raw(kernel.stream)});
  auto& numbers = at->second;
  if (!is_new) return numbers;
  numbers.place = place(kernel.device, kernel.context, kernel.stream);
  numbers.stage = stage_of(job_.names.kernel_of(kernel.shape));
  numbers.kernel = add_kernel(kernel);
  numbers.launch = launch_of(job_.names.shape(kernel.shape));
  return numbers;
}

std::uint64_t gpu_names::add_kernel(kernel_record const& launched) {
  auto const& name = job_.names.kernel_of(launched.shape);
  auto const& shape = job_.names.shape(launched.shape);
  auto data = on_.intern();
  message<compute_kernel> one(data, interned_data::compute_kernels);
  auto const number = kernels_.size();
  one.add_uint64(compute_kernel::iid, number);
  one.add_string(compute_kernel::name, name.mangled);
  one.add_string(compute_kernel::demangled_name, name.demangled);
  if (auto const& known = architectures_[raw(launched.device)]; !known.empty())
    one.add_string(compute_kernel::arch, known);
  auto const add = [&](argument what, auto const& value) {
    add_argument(one, compute_kernel::args, what, value);
  };
  add(argument::device, raw(launched.device));
  add(argument::stream, raw(launched.stream));
  add(argument::registers_per_thread, shape.registers_per_thread);
  if (!shape.shared_bytes_unknown) {
    add(argument::shared_mem_static, shape.static_shared_bytes);
    add(argument::shared_mem_dynamic, shape.dynamic_shared_bytes);
  }
  add(argument::local_memory_per_thread, shape.local_bytes_per_thread);
  if (size_of(shape.cluster) != 0) add(argument::cluster_size, extent_text(shape.cluster));
  if (shape.has_geometry()) {
    add(argument::grid_size, size_of(shape.grid));
    add(argument::workgroup_size, size_of(shape.block));
    add(argument::thread_count, size_of(shape.grid) * size_of(shape.block));
  }
  add(argument::process_name, process_name_);
  add(argument::process_id, process_id_);
  return number;
}

void gpu_names::add_argument_names() {
  auto data = on_.intern();
  std::uint64_t number = 0;
  for (auto const name : argument_names) {
    message<interned_name> one(data, interned_data::compute_arg_names);
    one.add_uint64(interned_name::iid, ++number);
    one.add_string(interned_name::name, name.data(), name.size());
  }
}

namespace {

/// Adds the arguments of a copy or fill besides its place.
template <class Row>
void add_place(message<compute_launch>& launch, Row const& row) {
  add_argument(launch, compute_launch::args, argument::device, raw(row.device));
  add_argument(launch, compute_launch::args, argument::stream, raw(row.stream));
}

/// Adds the graph that launched it, and the graph node.
void add_graph(message<render_stage>& event, graph_id graph, graph_node_id node) {
  if (raw(graph) == 0) return;
  auto const add = [&](char const* name, std::uint64_t value) {
    message<extra_data> one(event, render_stage::extra_data);
    one.add_string(extra_data::name, name);
    one.add_string(extra_data::value, std::to_string(value));
  };
  add("graph", raw(graph));
  add("graph_node", raw(node));
}

std::string arguments_of(copy_record const& copy) {
  std::string bytes;
  message<compute_launch> launch(bytes);
  add_place(launch, copy);
  auto const add = [&](argument name, auto const& value) {
    add_argument(launch, compute_launch::args, name, value);
  };
  add(argument::bytes, copy.bytes);
  add(argument::source_kind, text_of(copy.source_kind));
  add(argument::destination_kind, text_of(copy.destination_kind));
  if (copy.source_device != copy.destination_device) {
    add(argument::source_device, raw(copy.source_device));
    add(argument::destination_device, raw(copy.destination_device));
  }
  return bytes;
}

std::string arguments_of(memset_record const& fill) {
  std::string bytes;
  message<compute_launch> launch(bytes);
  add_place(launch, fill);
  add_argument(launch, compute_launch::args, argument::bytes, fill.bytes);
  add_argument(launch, compute_launch::args, argument::value, fill.value);
  add_argument(launch, compute_launch::args, argument::destination_kind, text_of(fill.kind));
  return bytes;
}

constexpr std::uint64_t launch_name = 1, launch_category = 1;

void add_name(message<interned_data>& to, interned_data field, std::uint64_t iid,
              char const* name) {
  message<interned_name> one(to, field);
  one.add_uint64(interned_name::iid, iid);
  one.add_string(interned_name::name, name);
}

}  // namespace

gpu_work::gpu_work(packet_file& file, export_job& job, tracks& of)
    : job_(job),
      stages_(file),
      names_(job, stages_, of.process_id()),
      marks_(file, job, of),
      readings_(file, job) {}

void gpu_work::write() {
  readings_.judge();
  row_progress progress(job_);
  for_each_in_time<kernel_record, copy_record, memset_record, graph_record>(job_.trace.file(),
                                                                            [&](auto const& row) {
                                                                              add(row);
                                                                              progress.one();
                                                                            });
}

template <class Row, class Fill>
void gpu_work::add_event(Row const& row, gpu_place const& place, std::uint64_t stage, Fill&& fill) {
  auto const id = ids_->next(row.correlation);
  stages_.add(row.start, [&](message<packet>& out) {
    message<render_stage> event(out, packet::gpu_render_stage_event);
    event.add_uint64(render_stage::event_id, id);
    event.add_uint64(render_stage::duration,
                     static_cast<std::uint64_t>(std::max(row.duration.value, std::int64_t{0})));
    event.add_int32(render_stage::gpu_id, static_cast<std::int32_t>(raw(row.device)));
    event.add_uint64(render_stage::context, place.context);
    event.add_uint64(render_stage::hw_queue_iid, place.queue);
    event.add_uint64(render_stage::stage_iid, stage);
    fill(event);
  });
  marks_.add(row, id);
  readings_.add(row);
}

template <class Row>
void gpu_work::add_plain(Row const& row, std::string const& name, std::int32_t category,
                         std::string const& arguments) {
  auto const& place = names_.place(row.device, row.context, row.stream);
  add_event(row, place, names_.stage(name, category), [&](message<render_stage>& event) {
    event.add_message(render_stage::launch, arguments);
    if constexpr (requires { row.node; }) add_graph(event, row.graph, row.node);
  });
}

void gpu_work::add(kernel_record const& kernel) {
  auto const& numbers = names_.of(kernel);
  add_event(kernel, numbers.place, numbers.stage, [&](message<render_stage>& event) {
    event.add_uint64(render_stage::kernel_iid, numbers.kernel);
    event.add_message(render_stage::launch, numbers.launch);
    add_graph(event, kernel.graph, kernel.node);
  });
}

void gpu_work::add(copy_record const& copy) {
  add_plain(copy, operation_of(copy.kind), category_other, arguments_of(copy));
}

void gpu_work::add(memset_record const& fill) {
  add_plain(fill, std::string(operation_of_memset), category_other, arguments_of(fill));
}

void gpu_work::add(graph_record const& graph) {
  std::string bytes;
  {
    message<compute_launch> launch(bytes);
    add_place(launch, graph);
  }
  add_plain(graph, "CUDA graph " + std::to_string(raw(graph.graph)), category_compute, bytes);
}

void launch_marks::add(timestamp_ns at, track_id thread, std::uint64_t event) {
  if (!named_) {
    auto names = marks_.intern();
    add_name(names, interned_data::event_names, launch_name, "launch");
    add_name(names, interned_data::event_categories, launch_category, "cuda_launch");
    named_ = true;
  }
  marks_.add(at, [&](message<packet>& out) {
    message<track_event> mark(out, packet::track_event);
    mark.add_enum(track_event::type, instant);
    mark.add_uint64(track_event::track_uuid, static_cast<std::uint64_t>(thread));
    mark.add_uint64(track_event::name_iid, launch_name);
    mark.add_uint64(track_event::category_iids, launch_category);
    message<gpu_correlation>(mark, track_event::gpu_correlation)
        .add_uint64(gpu_correlation::render_stage_submission_event_ids, event);
  });
}

}  // namespace gpuprof::host::perfetto
