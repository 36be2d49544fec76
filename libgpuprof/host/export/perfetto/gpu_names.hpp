// SPDX-License-Identifier: Apache-2.0
// Streams, kernels and kinds of copies by number, on the sequence of the GPU's work.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/perfetto/packets.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpuprof::host::perfetto {

/// Numbers that a packet refers to: each was, or is going to be, explained on the sequence before.
struct gpu_place {
  std::uint64_t queue = 0;
  std::uint64_t context = 0;
};
struct kernel_numbers {
  gpu_place place;
  std::uint64_t stage = 0;
  std::uint64_t kernel = 0;
  std::string launch;  // the whole message
};

/// Names of arguments, numbered in this order from 1 on.
enum class argument : std::uint64_t {
  device = 1,
  stream,
  registers_per_thread,
  shared_mem_static,
  shared_mem_dynamic,
  local_memory_per_thread,
  cluster_size,
  grid_size,
  workgroup_size,
  thread_count,
  process_name,
  process_id,
  bytes,
  value,
  source_kind,
  destination_kind,
  source_device,
  destination_device,
};

class gpu_names {
 public:
  gpu_names(export_job& job, sequence& on, std::uint32_t process_id);

  /// By its shape, in a stream: so device and stream need not be said for each launch.
  kernel_numbers const& of(kernel_record const& kernel);
  gpu_place const& place(device_id device, context_id context, stream_id stream);
  /// Of a copy, a fill or a graph: by a name without more.
  std::uint64_t stage(std::string const& name, std::int32_t category);

 private:
  struct key {
    std::uint32_t shape, device, context, stream;
    friend bool operator==(key const&, key const&) = default;
  };
  struct hash {
    std::size_t operator()(key const& of) const noexcept;
  };
  std::string queue_name(device_id device, context_id context, stream_id stream) const;
  std::uint64_t add_specification(std::string_view name, std::string_view description,
                                  std::int32_t category);
  std::uint64_t stage_of(exported_names::kernel const& kernel);
  std::uint64_t add_kernel(kernel_record const& launched);
  void add_argument_names();

  export_job& job_;
  sequence& on_;
  std::uint32_t process_id_;
  std::string process_name_;
  bool one_device_ = true, one_context_ = true;
  std::unordered_map<std::uint32_t, std::string> architectures_;  // by device
  std::unordered_map<key, kernel_numbers, hash> kernels_;
  std::unordered_map<key, gpu_place, hash> places_;                     // shape 0
  std::unordered_map<std::uint32_t, std::uint64_t> stages_of_kernels_;  // by name_id
  std::unordered_map<std::string, std::uint64_t> stages_;
  std::set<std::uint64_t> contexts_;
  std::uint64_t specifications_ = 0;
};

/// One argument of a kernel or of a launch.
template <class Parent, class Field>
void add_argument(message<Parent>& to, Field field, argument name, std::uint64_t value) {
  message<compute_arg> one(to, field);
  one.add_uint64(compute_arg::name_iid, static_cast<std::uint64_t>(name));
  one.add_uint64(compute_arg::uint_value, value);
}
template <class Parent, class Field>
void add_argument(message<Parent>& to, Field field, argument name, std::string_view value) {
  message<compute_arg> one(to, field);
  one.add_uint64(compute_arg::name_iid, static_cast<std::uint64_t>(name));
  one.add_string(compute_arg::string_value, value.data(), value.size());
}

}  // namespace gpuprof::host::perfetto
