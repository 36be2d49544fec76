// SPDX-License-Identifier: Apache-2.0
/**
 * @file
 * Reads a capture that `gpuprof profile` made: kernels, copies, calls, ranges, counters, losses.
 *
 * Link `gpuprof::capture` (libgpuprof-capture.so); libgpuprof.so is not needed. Records come in
 * order of their beginning, a few blocks of the file in memory at once; beside them all ranges (240
 * bytes each) and readings, where these are asked for.
 *
 * @code{.cpp}
 * gpuprof::capture_file run("run.gpuprof");
 * std::uint64_t busy_ns = 0;
 * gpuprof::capture_visitor visitor;
 * visitor.kernel = [&](gpuprof::captured_kernel const& k) { busy_ns += k.duration_ns; };
 * run.visit(visitor);
 * for (auto const& line : run.losses()) std::cerr << line << '\n';
 * @endcode
 *
 * Texts are valid UTF-8 and live as long as their capture_file. The version of this interface is
 * part of the names that are linked: a program built for another version does not start.
 */
#ifndef GPUPROF_CAPTURE_HPP
#define GPUPROF_CAPTURE_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/** Version of the interface in this header; `capture_v1` in the names that are linked. */
#define GPUPROF_CAPTURE_API 1

/** Marks what libgpuprof-capture.so exports. */
#define GPUPROF_CAPTURE_EXPORT __attribute__((visibility("default")))

namespace gpuprof {
inline namespace capture_v1 {

/** Blocks of a grid, threads of a block, blocks of a cluster. */
struct captured_extent {
  std::uint32_t x = 0; /**< first dimension */
  std::uint32_t y = 0; /**< second dimension */
  std::uint32_t z = 0; /**< third dimension */
};

/** What all work on a GPU has. Times are ns of CLOCK_REALTIME. */
struct captured_work {
  std::uint64_t start_ns = 0;    /**< on the GPU */
  std::uint64_t duration_ns = 0; /**< on the GPU */
  std::uint64_t launched_ns = 0; /**< the launching call was entered, on the CPU; 0: not seen */
  std::uint32_t device = 0;      /**< CUDA's number of the GPU */
  std::uint32_t context = 0;     /**< CUPTI's number in the process */
  std::uint32_t stream = 0;      /**< CUPTI's number in its context */
  std::uint32_t correlation = 0; /**< shared with the call that launched it */
  std::uint32_t os_thread = 0;   /**< the launching thread, by the system's number; 0: not seen */
  std::uint64_t range = 0;       /**< innermost push/pop range at the launch, its id; 0: none */
  std::uint32_t graph = 0;       /**< the CUDA graph that it is a part of; 0: none */
};

/** One execution of a kernel. */
struct captured_kernel : captured_work {
  std::string_view name;                    /**< demangled, with arguments */
  std::string_view base_name;               /**< without arguments and namespaces */
  std::string_view mangled_name;            /**< as CUPTI gave it */
  captured_extent grid;                     /**< in blocks */
  captured_extent block;                    /**< in threads */
  captured_extent cluster;                  /**< in blocks; 0: none */
  std::uint32_t registers_per_thread = 0;   /**< as compiled */
  std::uint32_t static_shared_bytes = 0;    /**< of a block */
  std::uint32_t dynamic_shared_bytes = 0;   /**< of a block */
  std::uint32_t local_bytes_per_thread = 0; /**< spilled registers and local arrays */
};

/** One execution of a whole CUDA graph (`--cuda-graph-trace graph`); `graph` is its number. */
struct captured_graph : captured_work {};

/** One copy of memory. */
struct captured_copy : captured_work {
  std::uint64_t bytes = 0;      /**< how much */
  std::uint8_t kind = 0;        /**< as CUpti_ActivityMemcpyKind: 1 HtoD, 2 DtoH, 8 DtoD, 10 PtoP */
  std::uint8_t source_kind = 0; /**< as CUpti_ActivityMemoryKind: 1 pageable, 2 pinned, 3 device */
  std::uint8_t destination_kind = 0;    /**< likewise */
  bool asynchronous = false;            /**< the call did not wait for it */
  std::uint32_t source_device = 0;      /**< of copies between GPUs */
  std::uint32_t destination_device = 0; /**< likewise */
  std::uint32_t copies = 1;             /**< of a batch, in this one record */
};

/** One fill of memory. */
struct captured_fill : captured_work {
  std::uint64_t bytes = 0; /**< how much */
  std::uint32_t value = 0; /**< what with */
};

/** One call of the CUDA runtime or driver (those that block, unless `--trace cuda-api`). */
struct captured_call {
  std::uint64_t start_ns = 0;    /**< entered, ns of CLOCK_REALTIME */
  std::uint64_t duration_ns = 0; /**< until it returned */
  std::string_view name;         /**< with CUPTI's suffix: cudaMemcpyAsync_v3020 */
  bool of_driver = false;        /**< else of the runtime */
  std::uint32_t os_thread = 0;   /**< who called */
  std::uint32_t correlation = 0; /**< shared with the work that it launched */
  std::int32_t result = 0;       /**< cudaError_t or CUresult */
};

/** An NVTX payload: none, a number, or the text of a JSON object. */
using captured_payload =
    std::variant<std::monostate, std::uint64_t, std::int64_t, double, std::string_view>;

/** One NVTX range. */
struct captured_range {
  std::uint64_t start_ns = 0;    /**< ns of CLOCK_REALTIME */
  std::uint64_t duration_ns = 0; /**< to its end, or the end of the capture */
  std::uint64_t id = 0;          /**< unique in the capture */
  std::uint64_t parent = 0;      /**< the enclosing push/pop range of its thread; 0: none */
  std::string_view name;         /**< its text */
  std::string_view domain;       /**< empty: the default domain */
  std::uint32_t os_thread = 0;   /**< who opened it */
  bool is_push_pop = true;       /**< else from start to end, perhaps on two threads */
  bool still_open = false;       /**< it had no end when the capture ended */
  std::uint32_t category = 0;    /**< in its domain; 0: none */
  std::uint32_t colour = 0;      /**< ARGB; 0: none */
  captured_payload payload;      /**< what its program attached */
  double declared_flops = 0;     /**< of gpuprof::scoped_range; 0: not declared */
  double declared_bytes = 0;     /**< likewise */
};

/** One NVTX mark. */
struct captured_mark {
  std::uint64_t time_ns = 0;   /**< ns of CLOCK_REALTIME */
  std::string_view name;       /**< its text */
  std::string_view domain;     /**< empty: the default domain */
  std::uint32_t os_thread = 0; /**< who made it */
  captured_payload payload;    /**< what its program attached */
};

/** A wait of the program or of a stream (`--trace sync`). */
struct captured_sync {
  std::uint64_t start_ns = 0;    /**< ns of CLOCK_REALTIME */
  std::uint64_t duration_ns = 0; /**< how long */
  std::uint8_t type = 0;         /**< 1 event, 2 stream waits for event, 3 stream, 4 context */
  std::uint32_t context = 0;     /**< CUPTI's number in the process */
  std::uint32_t stream = 0;      /**< CUPTI's number in its context */
  std::uint32_t correlation = 0; /**< of the call */
};

/** An allocation or release of memory (`--trace cuda-memory`). */
struct captured_memory {
  std::uint64_t time_ns = 0; /**< ns of CLOCK_REALTIME */
  bool is_release = false;   /**< else an allocation */
  std::uint8_t kind = 0;     /**< as CUpti_ActivityMemoryKind */
  std::uint64_t address = 0; /**< on the GPU */
  std::uint64_t bytes = 0;   /**< how much */
  std::uint32_t device = 0;  /**< CUDA's number of the GPU */
};

/** Hardware counters read around one launch. */
struct captured_reading {
  std::uint64_t opened_ns = 0;   /**< they ran from no earlier than here */
  std::uint64_t closed_ns = 0;   /**< to no later than here */
  std::uint32_t device = 0;      /**< CUDA's number of the GPU */
  std::uint32_t correlation = 0; /**< of the launch */
  bool whole_graph = false;      /**< around all kernels of a graph together */
  /** CUPTI's names with what they counted; empty where the values came with a later launch. */
  std::vector<std::pair<std::string_view, double>> values;
};

/** What a counter of the whole GPU counted in one interval. */
struct captured_sample {
  std::uint64_t start_ns = 0;    /**< ns of CLOCK_REALTIME */
  std::uint64_t duration_ns = 0; /**< of the interval */
  std::uint32_t device = 0;      /**< CUDA's number of the GPU */
  std::string_view metric;       /**< CUPTI's name */
  double value = 0;              /**< in the unit of the metric */
};

/** What a GPU did at a moment, by NVML: of the whole chip. 0: not known. */
struct captured_chip_state {
  std::uint64_t time_ns = 0;         /**< ns of CLOCK_REALTIME; ten times a second */
  std::uint32_t device = 0;          /**< CUDA's number of the GPU */
  std::uint64_t sm_clock_hz = 0;     /**< of its SMs */
  std::uint64_t memory_clock_hz = 0; /**< of its memory */
  double watts = 0;                  /**< what the board draws */
  std::uint32_t temperature_c = 0;   /**< of the chip, in degrees Celsius */
  std::uint64_t limiters = 0;        /**< of the clocks, NVML's clocks event reasons */
};

/** What to do with each kind of record; kinds without a function are not read. */
struct capture_visitor {
  std::function<void(captured_kernel const&)> kernel;   /**< each kernel */
  std::function<void(captured_graph const&)> graph;     /**< each whole graph */
  std::function<void(captured_copy const&)> copy;       /**< each copy */
  std::function<void(captured_fill const&)> fill;       /**< each fill */
  std::function<void(captured_call const&)> call;       /**< each API call */
  std::function<void(captured_range const&)> range;     /**< each NVTX range, at its beginning */
  std::function<void(captured_mark const&)> mark;       /**< each NVTX mark */
  std::function<void(captured_sync const&)> sync;       /**< each wait */
  std::function<void(captured_memory const&)> memory;   /**< each allocation and release */
  std::function<void(captured_reading const&)> reading; /**< each launch with readings */
  std::function<void(captured_sample const&)> sample;   /**< each value of each sample */
  std::function<void(captured_chip_state const&)> chip_state; /**< clocks and power over time */
};

/** A part of a capture's time, ns of CLOCK_REALTIME. */
struct captured_stretch {
  std::uint64_t begin_ns = 0; /**< the first moment of it */
  std::uint64_t end_ns = 0;   /**< the first moment after it */
};

/** A rate that this GPU was measured to reach, as stored with the capture. */
struct captured_peak {
  std::uint32_t device = 0; /**< CUDA's number of the GPU */
  std::string_view test;    /**< "tensor_bf16" */
  std::string_view unit;    /**< "FLOP/s", "op/s", "B/s", or "s" where less is better */
  double burst = 0;         /**< the best of all runs; 0: not measured */
  double sustained = 0;     /**< over a longer time; 0: not measured */
  double theory = 0;        /**< at the greatest clocks; 0: not known */
};

/** A GPU of the capture. */
struct captured_device {
  std::uint32_t device = 0;       /**< CUDA's number */
  std::string_view name;          /**< "NVIDIA H200" */
  std::string_view uuid;          /**< "GPU-xxxxxxxx-..." */
  std::string_view chip;          /**< "GH100"; empty where CUPTI does not tell */
  std::uint32_t sm_count = 0;     /**< streaming multiprocessors */
  std::uint64_t memory_bytes = 0; /**< of the GPU */
};

/** A capture that is read. One thread at a time. */
class GPUPROF_CAPTURE_EXPORT capture_file {
 public:
  /** @throws std::runtime_error with one line that says what is wrong: there is no such file, it is
   *  no capture, or one of a newer version. A capture that was cut off or is damaged is read as far
   *  as it goes; losses() says what is missing. */
  explicit capture_file(std::string path);
  ~capture_file();
  capture_file(capture_file&&) noexcept;            /**< The other one may only be destroyed. */
  capture_file& operator=(capture_file&&) noexcept; /**< The other one may only be destroyed. */

  /** Calls the functions of the visitor for all records, earliest first; of `within`, where
   *  it is not empty, for those alone that begin in one of these stretches: of other parts of the
   *  file times alone are decoded. What they throw comes through. May be called again. */
  void visit(capture_visitor const& visitor, std::vector<captured_stretch> const& within = {});

  /** What is known of host, process, settings and driver: keys of docs/capture-format.md. */
  std::vector<std::pair<std::string_view, std::string_view>> facts();
  /** The GPUs that were used or could be seen. */
  std::vector<captured_device> devices();
  /** Peaks that were measured on them. */
  std::vector<captured_peak> peaks();
  /** What was seen, lost and spent, by the names of docs/capture-format.md; the last values. */
  std::vector<std::pair<std::string_view, std::uint64_t>> counters();
  /** What the capture lacks, a line each; empty: nothing. Damage shows once visit() has met it. */
  std::vector<std::string> losses();

 private:
  struct contents;
  std::unique_ptr<contents> contents_;
};

}  // namespace capture_v1
}  // namespace gpuprof

#endif
