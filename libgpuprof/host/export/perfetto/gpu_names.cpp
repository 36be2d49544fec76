// SPDX-License-Identifier: Apache-2.0
#include "host/export/perfetto/gpu_names.hpp"

#include "base/utf8.hpp"

#include <cstdio>

namespace gpuprof::host::perfetto {
namespace {

// In the order of their numbers. Perfetto's compute tabs look for some of them.
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

std::string text_of(extent3 const& extent) {
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

/// Contexts are shown by their number, and 0 would be none.
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
  if (size_of(shape.cluster) != 0) add(argument::cluster_size, text_of(shape.cluster));
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

}  // namespace gpuprof::host::perfetto
