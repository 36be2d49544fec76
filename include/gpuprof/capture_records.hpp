// SPDX-License-Identifier: Apache-2.0
/**
 * @file
 * Records of a capture, as <gpuprof/capture.hpp> reads them.
 *
 * Times are nanoseconds of CLOCK_REALTIME. Texts are valid UTF-8 and live as long as the
 * capture_file that they come from. An enum may get new values; its name_of() returns "" for a
 * value that this header does not know.
 */
#ifndef GPUPROF_CAPTURE_RECORDS_HPP
#define GPUPROF_CAPTURE_RECORDS_HPP

#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gpuprof {
inline namespace capture_v1 {

/** Source and destination of a copy; the values are those of CUpti_ActivityMemcpyKind. */
enum class captured_copy_kind : std::uint8_t {
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

/** Returns e.g. "host to device"; "" for unknown kinds. */
constexpr std::string_view name_of(captured_copy_kind kind) noexcept {
  constexpr std::string_view names[] = {"",
                                        "host to device",
                                        "device to host",
                                        "host to array",
                                        "array to host",
                                        "array to array",
                                        "array to device",
                                        "device to array",
                                        "device to device",
                                        "host to host",
                                        "peer to peer"};
  auto const at = static_cast<unsigned>(kind);
  return at < sizeof names / sizeof *names ? names[at] : "";
}

/** Kind of memory; the values are those of CUpti_ActivityMemoryKind. */
enum class captured_memory_kind : std::uint8_t {
  unknown = 0,
  pageable = 1,
  pinned = 2,
  device = 3,
  array = 4,
  managed = 5,
  device_static = 6,
  managed_static = 7,
};

/** Returns e.g. "pinned"; "" for unknown kinds. */
constexpr std::string_view name_of(captured_memory_kind kind) noexcept {
  constexpr std::string_view names[] = {"",      "pageable", "pinned",        "device",
                                        "array", "managed",  "device static", "managed static"};
  auto const at = static_cast<unsigned>(kind);
  return at < sizeof names / sizeof *names ? names[at] : "";
}

/** Part of CUDA that a call belongs to. */
enum class captured_api : std::uint8_t { runtime = 0, driver = 1 };

/** What a wait waits for; the values are those of CUpti_ActivitySynchronizationType. */
enum class captured_sync_kind : std::uint8_t {
  unknown = 0,
  event = 1,            /**< the program waits for an event */
  stream_for_event = 2, /**< a stream waits for an event */
  stream = 3,           /**< the program waits for a stream */
  context = 4,          /**< the program waits for a context */
};

/** What is done with memory. */
enum class captured_memory_operation : std::uint8_t { unknown = 0, allocate = 1, release = 2 };

/** How an NVTX range begins and ends. */
enum class captured_range_style : std::uint8_t {
  push_pop = 0,  /**< nested, on one thread */
  start_end = 1, /**< may end on another thread, in any order */
};

/** Unit of a peak. */
enum class captured_unit : std::uint8_t {
  unknown = 0,
  flop_per_second = 1,
  op_per_second = 2, /**< integer and other operations */
  byte_per_second = 3,
  second = 4, /**< less is better */
};

/** Returns "FLOP/s", "op/s", "B/s" or "s"; "" for unknown units. */
constexpr std::string_view name_of(captured_unit unit) noexcept {
  constexpr std::string_view names[] = {"", "FLOP/s", "op/s", "B/s", "s"};
  auto const at = static_cast<unsigned>(unit);
  return at < sizeof names / sizeof *names ? names[at] : "";
}

/** Reason why a GPU lowered its clocks; the bits are NVML's clocks event reasons. */
enum class captured_limiter : std::uint64_t {
  idle = 0x1,
  application_clocks = 0x2, /**< clocks that a user or administrator has set */
  power_cap = 0x4,
  hardware_slowdown = 0x8, /**< set together with the more exact hardware reasons below */
  sync_boost = 0x10,
  software_thermal = 0x20,
  hardware_thermal = 0x40,
  power_brake = 0x80,
  display_clocks = 0x100,
};

/** Any number of captured_limiter bits. */
struct captured_limiters {
  std::uint64_t bits = 0; /**< as NVML has them */
  /** Returns true if this reason is among them. */
  constexpr bool has(captured_limiter one) const noexcept {
    return (bits & static_cast<std::uint64_t>(one)) != 0;
  }
};

/** Size of a grid in blocks, of a block in threads, or of a cluster in blocks. */
struct captured_extent {
  std::uint32_t x = 0; /**< first dimension */
  std::uint32_t y = 0; /**< second dimension */
  std::uint32_t z = 0; /**< third dimension */
};

/** Fields that all work on a GPU has. */
struct captured_work {
  std::uint64_t start_ns = 0;    /**< when it began on the GPU */
  std::uint64_t duration_ns = 0; /**< how long it took on the GPU */
  std::uint64_t launched_ns = 0; /**< when its CPU thread entered the launching call; 0: not seen */
  std::uint32_t device = 0;      /**< CUDA's number of the GPU */
  std::uint32_t context = 0;     /**< CUPTI's number of the context in the process */
  std::uint32_t stream = 0;      /**< CUPTI's number of the stream in its context */
  std::uint32_t correlation = 0; /**< number that it shares with the call that launched it */
  std::uint32_t os_thread = 0;   /**< the system's number of the launching thread; 0: not seen */
  std::uint32_t graph = 0;       /**< number of the CUDA graph that it is a part of; 0: none */
  std::uint64_t range = 0;       /**< id of the innermost push/pop range at the launch; 0: none */
};

/** One execution of a kernel. */
struct captured_kernel : captured_work {
  std::string_view name;                    /**< demangled, with arguments */
  std::string_view base_name;               /**< demangled, without arguments and namespaces */
  std::string_view mangled_name;            /**< as CUPTI gave it */
  captured_extent grid;                     /**< number of blocks */
  captured_extent block;                    /**< number of threads of a block */
  captured_extent cluster;                  /**< number of blocks of a cluster; 0: no clusters */
  std::uint32_t registers_per_thread = 0;   /**< number of registers that a thread uses */
  std::uint32_t static_shared_bytes = 0;    /**< static shared memory of a block */
  std::uint32_t dynamic_shared_bytes = 0;   /**< dynamic shared memory of a block */
  std::uint32_t local_bytes_per_thread = 0; /**< spilled registers and local arrays of a thread */
  bool shared_bytes_unknown = false;        /**< an imported file says nothing of shared memory */
};

/** One execution of a whole CUDA graph (`--cuda-graph-trace graph`). */
struct captured_graph : captured_work {};

/** One copy of memory, or several of one batch. */
struct captured_copy : captured_work {
  std::uint64_t bytes = 0;                 /**< bytes copied */
  captured_copy_kind kind{};               /**< source and destination */
  captured_memory_kind source_kind{};      /**< memory that was read */
  captured_memory_kind destination_kind{}; /**< memory that was written */
  bool asynchronous = false;               /**< true: the call did not wait for the copy */
  std::uint32_t source_device = 0;         /**< GPU that was read, of copies between GPUs */
  std::uint32_t destination_device = 0;    /**< GPU that was written, of copies between GPUs */
  std::uint32_t copy_count = 1; /**< number of copies in this record: a batch has several */
};

/** One fill of memory (memset). */
struct captured_fill : captured_work {
  std::uint64_t bytes = 0; /**< bytes filled */
  std::uint32_t value = 0; /**< value that was written */
};

/** One call of the CUDA runtime or driver. Without `--trace cuda-api` only calls that block. */
struct captured_call {
  std::uint64_t start_ns = 0;    /**< when the call was entered */
  std::uint64_t duration_ns = 0; /**< time until it returned */
  std::string_view name;         /**< with CUPTI's suffix: cudaMemcpyAsync_v3020 */
  captured_api api{};            /**< runtime or driver */
  std::uint32_t os_thread = 0;   /**< the system's number of the calling thread */
  std::uint32_t correlation = 0; /**< number that it shares with the work that it launched */
  std::int32_t result = 0;       /**< cudaError_t or CUresult; 0: success */
};

/** An NVTX payload: none, a number, or the text of a JSON object. */
using captured_payload =
    std::variant<std::monostate, std::uint64_t, std::int64_t, double, std::string_view>;

/** One NVTX range. */
struct captured_range {
  std::uint64_t start_ns = 0;    /**< when it was opened */
  std::uint64_t duration_ns = 0; /**< time to its end, or to the end of the capture */
  std::uint64_t id = 0;          /**< unique in the capture */
  std::uint64_t parent = 0;      /**< id of the enclosing push/pop range of its thread; 0: none */
  std::string_view name;         /**< text of the range */
  std::string_view domain;       /**< NVTX domain; empty: the default domain */
  std::uint32_t os_thread = 0;   /**< the system's number of the thread that opened it */
  captured_range_style style{};  /**< how it began */
  bool still_open = false;       /**< true: it had no end when the capture ended */
  std::uint32_t category = 0;    /**< NVTX category in its domain; 0: none */
  std::uint32_t color = 0;       /**< 0xAARRGGBB; 0: none */
  captured_payload payload;      /**< what its program attached */
  double declared_flops = 0;     /**< FLOP that gpuprof::scoped_range declared; 0: none */
  double declared_bytes = 0;     /**< bytes that gpuprof::scoped_range declared; 0: none */
};

/** One NVTX mark. */
struct captured_mark {
  std::uint64_t time_ns = 0;   /**< when it was made */
  std::string_view name;       /**< text of the mark */
  std::string_view domain;     /**< NVTX domain; empty: the default domain */
  std::uint32_t os_thread = 0; /**< the system's number of the thread that made it */
  captured_payload payload;    /**< what its program attached */
};

/** A wait of the program or of a stream (`--trace sync`). */
struct captured_sync {
  std::uint64_t start_ns = 0;    /**< when the wait began */
  std::uint64_t duration_ns = 0; /**< how long it took */
  captured_sync_kind kind{};     /**< what it waited for */
  std::uint32_t context = 0;     /**< CUPTI's number of the context in the process */
  std::uint32_t stream = 0;      /**< CUPTI's number of the stream in its context */
  std::uint32_t correlation = 0; /**< number that it shares with the call that waited */
};

/** An allocation or release of memory (`--trace cuda-memory`). */
struct captured_memory {
  std::uint64_t time_ns = 0;             /**< when it was done */
  captured_memory_operation operation{}; /**< allocation or release */
  captured_memory_kind kind{};           /**< kind of the memory */
  std::uint64_t address = 0;             /**< first byte */
  std::uint64_t bytes = 0;               /**< size */
  std::uint32_t device = 0;              /**< CUDA's number of the GPU */
};

/** Hardware counters read around one launch. */
struct captured_reading {
  std::uint64_t opened_ns = 0;   /**< the counters began to run at this time or later */
  std::uint64_t closed_ns = 0;   /**< the counters ended at this time or earlier */
  std::uint32_t device = 0;      /**< CUDA's number of the GPU */
  std::uint32_t correlation = 0; /**< number that it shares with the kernel of the launch */
  bool whole_graph = false;      /**< true: around all kernels of a graph together */
  /** CUPTI's names with what they counted; empty if the values came with a later launch. */
  std::vector<std::pair<std::string_view, double>> values;
};

/** What a counter of the whole GPU counted in one interval. */
struct captured_sample {
  std::uint64_t start_ns = 0;    /**< when the interval began */
  std::uint64_t duration_ns = 0; /**< length of the interval */
  std::uint32_t device = 0;      /**< CUDA's number of the GPU */
  std::string_view metric;       /**< CUPTI's name of the metric */
  double value = 0;              /**< value in the unit of the metric */
};

/** State of a whole GPU at a moment, from NVML, ten times a second. 0: not known. */
struct captured_chip_state {
  std::uint64_t time_ns = 0;         /**< when NVML was asked */
  std::uint32_t device = 0;          /**< CUDA's number of the GPU */
  std::uint64_t sm_clock_hz = 0;     /**< clock of its SMs */
  std::uint64_t memory_clock_hz = 0; /**< clock of its memory */
  double watts = 0;                  /**< power of the board */
  std::uint32_t temperature_c = 0;   /**< temperature of the chip in degrees Celsius */
  captured_limiters limiters;        /**< why its clocks were lowered */
};

/** A rate that this GPU was measured to reach, as stored with the capture. */
struct captured_peak {
  std::uint32_t device = 0; /**< CUDA's number of the GPU */
  std::string_view test;    /**< name of the test as in `gpuprof peaks --list`: "tensor_bf16" */
  captured_unit unit{};     /**< unit of the figures */
  double burst = 0;         /**< best of all runs; 0: not measured */
  double sustained = 0;     /**< rate over a longer time; 0: not measured */
  double theory = 0;        /**< rate at the highest clocks by the datasheet; 0: not known */
};

/** A GPU of the capture. */
struct captured_device {
  std::uint32_t device = 0;       /**< CUDA's number of the GPU */
  std::string_view name;          /**< "NVIDIA H200" */
  std::string_view uuid;          /**< "GPU-xxxxxxxx-..." */
  std::string_view chip;          /**< "GH100"; empty if CUPTI does not tell */
  std::uint32_t sm_count = 0;     /**< number of streaming multiprocessors */
  std::uint64_t memory_bytes = 0; /**< size of its memory */
};

}  // namespace capture_v1
}  // namespace gpuprof

#endif
