// SPDX-License-Identifier: Apache-2.0
// Kernels, copies, fills and graphs as render stages. Each is in the row of its stream, with an
// arrow from its launch.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/perfetto/counters.hpp"
#include "host/export/perfetto/packets.hpp"
#include "host/export/perfetto/tracks.hpp"
#include "model/ids.hpp"

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpuprof::host::perfetto {

// Numbers for streams, kernels and kinds of copies on the GPU work sequence.

/// The numbers that a packet refers to. Each was explained on the sequence before, or will be
/// before the packet.
struct gpu_place {
  std::uint64_t queue = 0;
  std::uint64_t context = 0;
};
struct kernel_numbers {
  gpu_place place;
  std::uint64_t stage = 0;
  std::uint64_t kernel = 0;
  std::string launch;  // the complete encoded message
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

  /// Numbers a kernel by its shape and stream, so that launches need not repeat device and stream.
  kernel_numbers const& of(kernel_record const& kernel);
  gpu_place const& place(device_id device, context_id context, stream_id stream);
  /// Returns the number of a copy, fill or graph, which has only a name.
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
  std::unordered_map<key, gpu_place, hash> places_;                     // keys with shape 0
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

/// Ids of GPU work, unique in the file and derived from the launching call. A call launches one
/// item, or several with a graph: the id is the correlation id with 0, 1, 2, ... in the upper bits.
class gpu_event_ids {
 public:
  static std::uint64_t id(correlation_id correlation, std::uint64_t which) noexcept {
    return which << 32 | raw(correlation);
  }

  /// Returns the id of the next item launched by this call.
  std::uint64_t next(correlation_id correlation) {
    auto& page = pages_[raw(correlation) >> page_bits];
    if (!page) page = std::make_unique<std::bitset<page_size>>();
    auto bit = (*page)[raw(correlation) % page_size];
    if (bit) return id(correlation, ++more_[raw(correlation)]);
    bit = true;
    return id(correlation, 0);
  }

  /// Returns how many items a call has launched.
  std::uint64_t count(correlation_id correlation) const {
    auto const& page = pages_[raw(correlation) >> page_bits];
    if (!page || !page->test(raw(correlation) % page_size)) return 0;
    auto const more = more_.find(raw(correlation));
    return more != more_.end() ? more->second + 1 : 1;
  }

 private:
  static constexpr unsigned page_bits = 16;
  static constexpr std::size_t page_size = 1u << page_bits;
  std::array<std::unique_ptr<std::bitset<page_size>>, 1u << (32 - page_bits)> pages_;
  std::unordered_map<std::uint32_t, std::uint64_t> more_;
};

/// Writes an instant on the thread, with an arrow to the work that it launched. Writes nothing if
/// all API calls are recorded, because these have the arrows.
class launch_marks {
 public:
  launch_marks(packet_file& file, export_job& job, tracks& of)
      : marks_(file), tracks_(of), wanted_(job.trace.calls() != captured_calls::all) {}

  template <class Row>
  void add(Row const& row, std::uint64_t event) {
    if (wanted_ && row.launched.value != 0 && raw(row.thread) != 0)
      add(row.launched, tracks_.thread(row.thread), event);
  }

 private:
  void add(timestamp_ns at, track_id thread, std::uint64_t event);

  sequence marks_;
  tracks& tracks_;
  bool wanted_ = false;
  bool named_ = false;
};

class gpu_work {
 public:
  gpu_work(packet_file& file, export_job& job, tracks& of);

  void write();
  /// The work that each call launched. Valid after write().
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

}  // namespace gpuprof::host::perfetto
