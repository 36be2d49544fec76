// SPDX-License-Identifier: Apache-2.0
// The records of a trace: one plain struct per kind, without vendor types.
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

/// Special values of kernel_shape::arguments.
inline constexpr std::uint32_t arguments_not_looked_at = 0, arguments_of_many_values = 1;

/// The properties of a kernel launch that repeat from launch to launch. Stored once and referred to
/// by shape_id.
struct kernel_shape {
  shape_id id{};
  name_id name{};  // mangled, as given by CUPTI
  extent3 grid, block, cluster;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t local_bytes_per_thread = 0;
  std::uint64_t local_bytes_total = 0;
  std::uint32_t launch_type = 0;  // 0 regular, 1 and 2 cooperative, as in CUpti_ActivityLaunchType
  std::uint32_t max_active_clusters = 0;
  /// Distinguishes launches that differ only in the values of their arguments, without pointers:
  /// one kernel may multiply matrices of any size with as many blocks as there are SMs. The same in
  /// all runs of a program.
  std::uint32_t arguments = arguments_not_looked_at;
  /// The source does not say how much shared memory a block has. Other sizes are 0 then, which no
  /// kernel has of them.
  bool shared_bytes_unknown = false;
  /// False if only the name was kept because the program had too many different shapes. The shape
  /// then stands for launches with any grid and block, which are 0.
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
  timestamp_ns launched;  // CPU time at which the launching call was entered; 0: not seen
  shape_id shape{};
  device_id device{};
  context_id context{};
  stream_id stream{};
  correlation_id correlation{};
  thread_index thread{};  // the launching thread; 0: not seen
  range_id range{};       // innermost NVTX push/pop range open on that thread at launch; 0: none
  graph_id graph{};
  graph_node_id node{};
  correlation_id time_of{};  // launch that this duration was taken from; 0: its own
  stack_id stack{};          // Python stack of the launching call; 0: none
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
  stack_id stack{};  // as in kernel_record
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
  std::uint32_t batch = 0;   // number of copies in this record of a batch; 0: a single copy
  stack_id stack{};          // as in kernel_record
  correlation_id time_of{};  // as in kernel_record

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
  stack_id stack{};          // as in kernel_record
  correlation_id time_of{};  // as in kernel_record
};

enum class api_domain : std::uint8_t { runtime = 0, driver = 1 };

/// One CUDA runtime or driver API call on the CPU. Only blocking calls are recorded, unless
/// --trace=cuda-api asks for all.
struct api_record {
  timestamp_ns start;
  duration_ns duration;
  api_domain domain{};
  name_id name{};  // with CUPTI's version suffix, e.g. cudaMemcpyAsync_v3020
  std::uint32_t os_thread = 0;
  correlation_id correlation{};
  std::int32_t result = 0;  // cudaError_t or CUresult
  stack_id stack{};         // Python stack of the call; 0: none
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

/// A stack: its innermost frame, and the stack without it. Stacks share the frames of their
/// callers.
struct stack_record {
  stack_id stack{};
  stack_id caller{};             // 0: this frame is the outermost that is known
  name_id file{};                // as Python names it: a path, or for example "<string>"
  name_id function{};            // qualified, for example "Linear.forward"
  std::uint32_t first_line = 0;  // of the function
  std::uint32_t line = 0;        // of the call in it
  // "mlp.c_fc: Conv1D": where this frame calls a module of PyTorch, its name in the module that is
  // called next further out, and its class. Without a name: nothing further out holds it.
  name_id module{};
  // Native code instead of Python, which has no names here. `address`: where the call returns to,
  // as in the file of the binary, whatever address it was loaded at.
  binary_id binary{};
  std::uint64_t address = 0;
  bool is_native() const noexcept { return raw(binary) != 0 || address != 0; }
};

/// An executable or a library with native code that is on recorded stacks.
struct binary_record {
  binary_id binary{};
  name_id path{};                  // of its file
  name_id build_id{};              // in hexadecimal digits; empty: it has none
  std::uint64_t load_address = 0;  // what was added to the addresses of the file
};

/// The text of a source line of the program.
struct source_line_record {
  name_id file{};  // as in stack_record
  std::uint32_t line = 0;
  name_id text{};  // without the blanks around it
};

/// What a thread does at a moment. Those that wait do so in a system call.
enum class cpu_state : std::uint8_t {
  running = 0,  // on a core, or it wants one
  gil = 1,      // waits for the GIL of Python
  lock = 2,     // waits for a lock, a condition or another thread
  sleeping = 3,
  input = 4,  // waits for a socket, a pipe, or one of several files
  file = 5,   // reads or writes a file, or waits for a page of one
  child = 6,  // waits for a child process
  other = 7
};

/// A thread of the program, or the main thread of a child process, looked at some times in a row
/// with the same answer.
struct thread_sample_record {
  timestamp_ns start;    // the first look
  duration_ns duration;  // until the last one; the looks are evenly spread
  std::uint32_t os_thread = 0;
  cpu_state state{};
  std::uint32_t looks = 0;
  std::uint64_t on_core_ns = 0;      // since the look before the first one, by the kernel
  std::uint64_t wanted_core_ns = 0;  // it could have run, but all cores were taken
  stack_id stack{};                  // its Python stack; 0: it has none, or it could not be read
  stack_id holder{};                 // state gil: the stack of the thread that had the GIL
  bool is_child = false;             // os_thread is the number of a child process
};

enum class range_style : std::uint8_t { push_pop = 0, start_end = 1 };

enum class payload_kind : std::uint8_t {
  none = 0,
  unsigned64 = 1,
  signed64 = 2,
  float64 = 3,
  text = 4,  // text: name_id of a JSON object
};

/// The start of an NVTX range. Its end is a range_end; without one the range was still open.
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
  name_id chip{};  // "GH100"; empty if CUPTI does not report it
  std::uint32_t compute_major = 0, compute_minor = 0;
  std::uint32_t sm_count = 0;
  std::uint32_t max_sm_clock_khz = 0;
  std::uint32_t max_memory_clock_khz = 0;
  std::uint32_t memory_bus_bits = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  name_id pci_bus{};
  /// The resources of an SM. 0: not known.
  std::uint32_t max_threads_per_sm = 0;
  std::uint32_t max_blocks_per_sm = 0;
  std::uint32_t registers_per_sm = 0;
  std::uint32_t shared_bytes_per_sm = 0;
  std::uint32_t reserved_shared_bytes = 0;  // per block, reserved by the driver
};

/// The result of a peak test on a GPU, see model/peaks.hpp. Values are in `unit`; 0: not measured
/// or not known.
struct peak_record {
  device_id device{};
  name_id test{};   // "tensor_bf16"
  name_id group{};  // "tensor_cores"
  name_id title{};  // "Tensor BF16, FP32 accumulate"
  name_id unit{};   // "FLOP/s", "op/s", "B/s", or "s" (less is better)
  name_id clock{};  // unit of per_clock: "SM clock per SM", "memory clock"
  double per_clock = 0;
  double per_clock_theory = 0;
  double burst = 0;
  double burst_spread = 0;  // (greatest - least) / median
  double burst_sm_clock_mhz = 0;
  double sustained = 0;
  double sustained_sm_clock_mhz = 0;
  double sustained_watts = 0;
  double theory = 0;           // at the maximum clocks
  std::uint64_t limiters = 0;  // NVML's clocks event reasons during burst or sustained runs
  name_id method{};            // instruction or call: "wgmma m64n256k16"
  name_id operands{};          // "random"
  name_id measured_at{};       // "2026-03-01T12:00:00Z"
  name_id remark{};            // what reduces the values; empty: nothing
};

/// A hardware counter that the capture reads, with CUPTI's name.
struct metric_record {
  metric_id metric{};
  name_id name{};               // with suffix: "dram__bytes_read.sum"
  device_id device{};           // GPU that it was planned for
  std::uint16_t group = 0;      // metrics of one group are read from the same launch
  bool patches_kernel = false;  // counted by a rewritten kernel, which is slower
  bool sampled = false;         // read every few microseconds during any work; `group` is not used
};

/// A launch around which counters were read. The kernel records show if other work ran at the same
/// time.
struct read_launch_record {
  correlation_id correlation{};  // as in the kernel's record
  device_id device{};
  context_id context{};
  std::uint16_t group = 0;    // group of metrics
  timestamp_ns opened;        // the counters were active no earlier than this
  timestamp_ns closed;        // and no later than this
  std::uint32_t reading = 0;  // the launches of one reading ran one pass each; 0: a single launch
  bool whole_graph = false;   // a graph launch: counted over all of its kernels
};

/// The value of a counter at the end of such a launch, or at the end of the last launch of the
/// reading.
struct reading_value_record {
  correlation_id correlation{};
  metric_id metric{};
  double value = 0;
};

/// The count of a counter of the whole GPU in one interval. Inside a sampling window the intervals
/// of a device follow each other without a gap, unless samples were lost.
struct sample_record {
  metric_id metric{};  // also determines the device
  timestamp_ns start;
  duration_ns duration;
  double value = 0;
};

/// A time in which a GPU was sampled.
struct sampling_window_record {
  device_id device{};
  timestamp_ns start;
  timestamp_ns end;
  duration_ns interval;         // as requested
  std::uint64_t samples = 0;    // samples kept; each has a value of every sampled metric
  std::uint64_t overflows = 0;  // number of times that samples were lost
};

/// A time of 1 ms or longer in which program calls that put work on GPUs waited while the profiler
/// set up or read counters.
struct hold_record {
  timestamp_ns start;
  duration_ns duration;
};

/// A time in which a call that takes or releases a GPU's counters for sampling may have stopped the
/// GPU: the kernel that ran then took 1 to 2 ms longer.
struct pause_record {
  device_id device{};
  timestamp_ns start;
  duration_ns duration;
};

/// The state of a GPU at one moment, from NVML: always of the whole chip, because a MIG slice has
/// no state of its own. 0: NVML gave no value.
struct chip_state_record {
  device_id device{};
  timestamp_ns time;
  std::uint32_t sm_clock_mhz = 0, memory_clock_mhz = 0;
  std::uint32_t power_mw = 0;
  std::uint32_t temperature_c = 0;
  std::uint64_t limiters = 0;  // NVML's clocks event reasons
};

/// One capture window, from its trigger to its end.
struct window_record {
  std::uint32_t index = 0;
  timestamp_ns start;
  timestamp_ns end;   // 0: still open when the file ends
  name_id trigger{};  // "start", "cudaProfilerStart", "nvtx range 'step'", ...
};

/// A counter of what was lost or spent. Written repeatedly; the last value of a name is valid.
struct counter_record {
  name_id name{};  // listed in docs/capture-format.md
  std::uint64_t value = 0;
};

/// One fact about the host, the process or the settings, e.g. {"host", "node17"}.
struct fact_record {
  name_id key{};
  name_id value{};
};

/// Both clocks read together, to detect steps of CLOCK_REALTIME.
struct clock_record {
  timestamp_ns realtime;
  std::uint64_t monotonic = 0;
};

}  // namespace gpuprof

namespace gpuprof::limited_by {

// Reasons for reduced GPU clocks: the bits of NVML's clocks event reasons, as stored in records.

inline constexpr std::uint64_t nothing_to_do = 0x1, application_clocks = 0x2, power_cap = 0x4,
                               slowdown = 0x8, sync_boost = 0x10, heat = 0x20 | 0x40,
                               power_brake = 0x80, display = 0x100, all_known = 0x1ff;

}  // namespace gpuprof::limited_by
