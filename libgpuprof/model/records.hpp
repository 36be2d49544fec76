// SPDX-License-Identifier: Apache-2.0
// What a trace consists of: one plain struct per kind of record, free of any vendor type.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"

#include <compare>
#include <cstdint>

namespace gpuprof {

struct extent3 {
  std::uint32_t x = 0, y = 0, z = 0;
  friend constexpr auto operator<=>(extent3 const&, extent3 const&) = default;
};

/// Of kernel_shape::arguments.
inline constexpr std::uint32_t arguments_not_looked_at = 0, arguments_of_many_values = 1;

/// Everything about a kernel launch that repeats from launch to launch. Stored once, referred to by
/// shape_id.
struct kernel_shape {
  shape_id id{};
  name_id name{};  // mangled, as CUPTI gives it
  extent3 grid, block, cluster;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t local_bytes_per_thread = 0;
  std::uint64_t local_bytes_total = 0;
  std::uint32_t launch_type = 0;  // 0 regular, 1 and 2 cooperative, as in CUpti_ActivityLaunchType
  std::uint32_t max_active_clusters = 0;
  /// Tells launches apart that differ in the values of their arguments alone, pointers left out:
  /// one kernel multiplies matrices of any size on as many blocks as there are SMs. The same in all
  /// runs of a program.
  std::uint32_t arguments = arguments_not_looked_at;
  /// The source does not say how much shared memory a block has. Other sizes are 0 then, which no
  /// kernel has of them.
  bool shared_bytes_unknown = false;
  /// False if only the name was kept, because the program had too many different shapes: the shape
  /// stands for launches of any grid and block, and these are 0.
  constexpr bool has_geometry() const noexcept { return grid.x != 0; }
  constexpr bool has_shared_bytes() const noexcept {
    return has_geometry() && !shared_bytes_unknown;
  }
  friend constexpr auto operator<=>(kernel_shape const&, kernel_shape const&) = default;
};

/// One kernel execution on the GPU.
struct kernel_record {
  timestamp_ns start;
  duration_ns duration;
  timestamp_ns launched;  // when the launching call was entered, on the CPU; 0: not seen
  shape_id shape{};
  device_id device{};
  context_id context{};
  stream_id stream{};
  correlation_id correlation{};
  thread_index thread{};  // the launching thread; 0: not seen
  range_id range{};       // innermost NVTX push/pop range open on that thread at launch; 0: none
  graph_id graph{};
  graph_node_id node{};
  correlation_id time_of{};  // the launch whose length this is; 0: its own
};

/// One execution of a whole CUDA graph (graph-level tracing only).
struct graph_record {
  timestamp_ns start;
  duration_ns duration;
  timestamp_ns launched;
  graph_id graph{};
  device_id device{};
  context_id context{};
  stream_id stream{};
  correlation_id correlation{};
  thread_index thread{};
  range_id range{};
};

enum class copy_kind : std::uint8_t {  // values as in CUpti_ActivityMemcpyKind
  unknown = 0,
  host_to_device = 1,
  device_to_host = 2,
  host_to_array = 3,
  array_to_host = 4,
  array_to_array = 5,
  array_to_device = 6,
  device_to_array = 7,
  device_to_device = 8,
  host_to_host = 9,
  peer_to_peer = 10,
};

enum class memory_kind : std::uint8_t {  // values as in CUpti_ActivityMemoryKind
  unknown = 0,
  pageable = 1,
  pinned = 2,
  device = 3,
  array = 4,
  managed = 5,
  device_static = 6,
  managed_static = 7,
};

struct copy_record {
  timestamp_ns start;
  duration_ns duration;
  timestamp_ns launched;
  std::uint64_t bytes = 0;
  copy_kind kind{};
  memory_kind source_kind{};
  memory_kind destination_kind{};
  bool asynchronous = false;
  device_id device{};
  context_id context{};
  stream_id stream{};
  device_id source_device{};       // peer copies only, else equal to `device`
  device_id destination_device{};  // peer copies only, else equal to `device`
  correlation_id correlation{};
  thread_index thread{};
  range_id range{};
  graph_id graph{};
  graph_node_id node{};
  std::uint32_t batch = 0;  // copies of a batch in this one record; 0: it is one copy

  std::uint32_t copies() const noexcept { return batch != 0 ? batch : 1; }
};

struct memset_record {
  timestamp_ns start;
  duration_ns duration;
  timestamp_ns launched;
  std::uint64_t bytes = 0;
  std::uint32_t value = 0;
  memory_kind kind{};
  bool asynchronous = false;
  device_id device{};
  context_id context{};
  stream_id stream{};
  correlation_id correlation{};
  thread_index thread{};
  range_id range{};
  graph_id graph{};
  graph_node_id node{};
};

enum class api_domain : std::uint8_t { runtime = 0, driver = 1 };

/// One CUDA runtime or driver API call on the CPU (those that block alone, unless
/// --trace=cuda-api asks for all).
struct api_record {
  timestamp_ns start;
  duration_ns duration;
  api_domain domain{};
  name_id name{};  // with CUPTI's version suffix, e.g. cudaMemcpyAsync_v3020
  std::uint32_t os_thread = 0;
  correlation_id correlation{};
  std::int32_t result = 0;  // cudaError_t or CUresult
};

struct sync_record {
  timestamp_ns start;
  duration_ns duration;
  std::uint8_t type = 0;  // 1 event, 2 stream wait event, 3 stream, 4 context
  context_id context{};
  stream_id stream{};
  std::uint32_t event = 0;
  correlation_id correlation{};
  std::int32_t result = 0;
};

enum class memory_operation : std::uint8_t { unknown = 0, allocate = 1, release = 2 };

struct memory_record {
  timestamp_ns time;
  memory_operation operation{};
  memory_kind kind{};
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t pool_address = 0;  // 0: not from a pool
  device_id device{};
  context_id context{};
  stream_id stream{};
  correlation_id correlation{};
  bool asynchronous = false;
};

struct unified_memory_record {
  timestamp_ns start;
  duration_ns duration;
  std::uint32_t counter = 0;  // CUpti_ActivityUnifiedMemoryCounterKind
  std::uint64_t value = 0;
  std::uint64_t address = 0;
  device_id source_device{};
  device_id destination_device{};
  stream_id stream{};
};

enum class range_style : std::uint8_t { push_pop = 0, start_end = 1 };

enum class payload_kind : std::uint8_t {
  none = 0,
  unsigned64 = 1,
  signed64 = 2,
  float64 = 3,
  text = 4,  // text: name_id of a JSON object
};

/// An NVTX range was opened. Its end is a range_end; a range without one was still open.
struct range_begin {
  timestamp_ns time;
  range_id range{};
  range_id parent{};  // enclosing push/pop range of the same thread; 0: outermost
  thread_index thread{};
  range_style style{};
  std::uint16_t level = 0;  // nesting depth, 0 outermost
  name_id name{};
  name_id domain{};  // empty: the default domain
  std::uint32_t category = 0;
  std::uint32_t color = 0;  // ARGB; 0: none
  payload_kind payload{};
  std::uint64_t payload_bits = 0;
  double declared_flops = 0;  // from gpuprof::scoped_range; 0: not declared
  double declared_bytes = 0;
};

struct range_end {
  timestamp_ns time;
  range_id range{};
  thread_index thread{};  // start/end ranges may end on another thread
};

struct mark_record {
  timestamp_ns time;
  thread_index thread{};
  name_id name{};
  name_id domain{};
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  payload_kind payload{};
  std::uint64_t payload_bits = 0;
};

struct thread_record {
  thread_index thread{};
  std::uint32_t os_thread = 0;
  name_id name{};  // from nvtxNameOsThread or the kernel's thread name
};

struct category_record {
  name_id domain{};
  std::uint32_t category = 0;
  name_id name{};
};

struct context_record {
  context_id context{};
  device_id device{};
};

struct device_record {
  device_id device{};
  name_id name{};  // "NVIDIA H200"
  name_id uuid{};  // "GPU-xxxxxxxx-xxxx-..."
  name_id chip{};  // "GH100"; empty when CUPTI does not tell
  std::uint32_t compute_major = 0, compute_minor = 0;
  std::uint32_t sm_count = 0;
  std::uint32_t max_sm_clock_khz = 0;
  std::uint32_t max_memory_clock_khz = 0;
  std::uint32_t memory_bus_bits = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  name_id pci_bus{};
  /// What an SM holds of the kernels that run on it. 0: not known.
  std::uint32_t max_threads_per_sm = 0;
  std::uint32_t max_blocks_per_sm = 0;
  std::uint32_t registers_per_sm = 0;
  std::uint32_t shared_bytes_per_sm = 0;
  std::uint32_t reserved_shared_bytes = 0;  // of each block, kept by the driver
};

/// What a peak test measured on a GPU, see model/peaks.hpp. Figures are in `unit`; 0: not measured,
/// or nobody knows.
struct peak_record {
  device_id device{};
  name_id test{};   // "tensor_bf16"
  name_id group{};  // "tensor_cores"
  name_id title{};  // "Tensor BF16, FP32 accumulate"
  name_id unit{};   // "FLOP/s", "op/s", "B/s", or "s" where less is better
  name_id clock{};  // of per_clock: "SM clock per SM", "memory clock"
  double per_clock = 0;
  double per_clock_theory = 0;
  double burst = 0;
  double burst_spread = 0;  // (greatest - least) / median
  double burst_sm_clock_mhz = 0;
  double sustained = 0;
  double sustained_sm_clock_mhz = 0;
  double sustained_watts = 0;
  double theory = 0;           // at the greatest clocks
  std::uint64_t limiters = 0;  // NVML's clocks event reasons, of burst and sustained together
  name_id method{};            // instruction or call: "wgmma m64n256k16"
  name_id operands{};          // "random"
  name_id measured_at{};       // "2026-03-01T12:00:00Z"
  name_id remark{};            // what lessens the figures; empty: nothing
};

/// A hardware counter that the capture reads, by CUPTI's name.
struct metric_record {
  metric_id metric{};
  name_id name{};               // with suffix: "dram__bytes_read.sum"
  device_id device{};           // whose chip it was planned for
  std::uint16_t group = 0;      // metrics of one group are read from the same launch
  bool patches_kernel = false;  // counts by rewriting the kernel, which is slower then
  bool sampled = false;         // read every few microseconds, whatever runs; `group` means nothing
};

/// A launch around which the counters ran. Whether anything else ran beside it, the kernel records
/// tell.
struct read_launch_record {
  correlation_id correlation{};  // as in the kernel's record
  device_id device{};
  context_id context{};
  std::uint16_t group = 0;    // of metrics
  timestamp_ns opened;        // the counters ran from no earlier than here
  timestamp_ns closed;        // to no later than here
  std::uint32_t reading = 0;  // launches of one reading ran its passes, one each; 0: alone
  bool whole_graph = false;   // of a graph: counted around all its kernels together
};

/// What a counter had counted at the end of such a launch, or at the end of the reading's last.
struct reading_value_record {
  correlation_id correlation{};
  metric_id metric{};
  double value = 0;
};

/// What a counter of the whole GPU counted in one interval. Those of one device follow each other
/// without a gap inside a sampling window, unless samples were lost.
struct sample_record {
  metric_id metric{};  // tells the device
  timestamp_ns start;
  duration_ns duration;
  double value = 0;
};

/// A time in which a GPU was sampled.
struct sampling_window_record {
  device_id device{};
  timestamp_ns start;
  timestamp_ns end;
  duration_ns interval;         // as asked for
  std::uint64_t samples = 0;    // kept; each has a value of every sampled metric
  std::uint64_t overflows = 0;  // how often samples are missing
};

/// A time in which calls of the program that put work on GPUs waited, 1 ms or longer, while the
/// profiler set up counters or read them.
struct hold_record {
  timestamp_ns start;
  duration_ns duration;
};

/// A stretch in which a call that takes the counters of a GPU for sampling, or releases them, may
/// have stopped it: the kernel that ran at that moment took 1 to 2 ms longer.
struct pause_record {
  device_id device{};
  timestamp_ns start;
  duration_ns duration;
};

/// What a GPU did at a moment, by NVML: of the whole chip, a MIG slice has none of its own. 0: NVML
/// did not say.
struct chip_state_record {
  device_id device{};
  timestamp_ns time;
  std::uint32_t sm_clock_mhz = 0, memory_clock_mhz = 0;
  std::uint32_t power_mw = 0;
  std::uint32_t temperature_c = 0;
  std::uint64_t limiters = 0;  // of the clocks, NVML's clocks event reasons
};

/// One capture of a session: from its trigger to its end.
struct window_record {
  std::uint32_t index = 0;
  timestamp_ns start;
  timestamp_ns end;   // 0: still open when the file ends
  name_id trigger{};  // "start", "cudaProfilerStart", "nvtx range 'step'", ...
};

/// A counter of what was lost or spent. Written repeatedly; the last value of a name is the truth.
struct counter_record {
  name_id name{};  // docs/capture-format.md lists them
  std::uint64_t value = 0;
};

/// One fact about the host, the process or the settings, e.g. {"host", "node17"}.
struct fact_record {
  name_id key{};
  name_id value{};
};

/// The two clocks read together, so that steps of CLOCK_REALTIME show.
struct clock_record {
  timestamp_ns realtime;
  std::uint64_t monotonic = 0;
};

}  // namespace gpuprof
