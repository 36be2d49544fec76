/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * The C interface of libgpuprof: start, stop and query captures from inside a program.
 *
 *   if (gpuprof_start(NULL) != GPUPROF_OK)
 *     fprintf(stderr, "not profiled: %s\n", gpuprof_last_message());
 *   train_one_epoch();
 *   gpuprof_stop();
 *
 * Every function may be called on any thread, at any time, also before CUDA is initialized and on machines with no GPU. No
 * function throws, aborts or prints to stdout, changes the device, context, stream or clocks, or runs anything on a GPU (only
 * gpuprof_measure_peaks() of <gpuprof/peaks.h> does). All settings come from GPUPROF_* environment variables (see
 * `man gpuprof`); options that are given to a function here replace those variables.
 */
#ifndef GPUPROF_GPUPROF_H
#define GPUPROF_GPUPROF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(GPUPROF_BUILDING)
#define GPUPROF_API __attribute__((visibility("default")))
#else
#define GPUPROF_API
#endif

/** Version of this header. gpuprof_version() returns the version of the library, which may differ. */
#define GPUPROF_VERSION_MAJOR 0
#define GPUPROF_VERSION_MINOR 1
#define GPUPROF_VERSION_PATCH 0

/*
 * Structs grow at their end. `struct_size` is the size of the struct in bytes: in an options struct the caller sets it to
 * sizeof, in a result the library has set it. Read a field of a result only if struct_size covers it. Lists are arrays of
 * pointers, so a program that was built with another version of this header can still step through them. An enum may get
 * new values: treat a value that your program does not know as "other". The ..._name() functions know all values of the
 * library. They never return NULL; they return "" for an unknown value, and the text lives as long as the library.
 */

/** Result of a call. gpuprof_last_message() gives the reason of every status but GPUPROF_OK. */
typedef enum gpuprof_status {
  GPUPROF_OK = 0,
  /** Nothing is being captured or measured, and this call could not change that: for example in a child that was forked after
   * CUDA had begun, in a process that is ending, without a GPU to measure, or when no capture is running. The program is not
   * affected. */
  GPUPROF_INACTIVE = 1,
  /** An argument is NULL, a struct_size fits no known version of its struct, or a field has a value that is not allowed.
   * Nothing was done. */
  GPUPROF_INVALID_ARGUMENT = 2,
  /** The time limit of the call (GPUPROF_FLUSH_TIMEOUT_MS, default 2 s) passed first. The work goes on in the background. */
  GPUPROF_TIMEOUT = 3
} gpuprof_status;

/** Returns "ok", "inactive", "invalid argument" or "timeout". */
GPUPROF_API const char* gpuprof_status_name(gpuprof_status status);

/** Returns the version of the library, e.g. "0.1.0". Never NULL; the text lives as long as the library. */
GPUPROF_API const char* gpuprof_version(void);

/**
 * Returns why the last call on this thread that returns a gpuprof_status did not return GPUPROF_OK, as one line without a line
 * end. It is the same text as the line of the log, if there is one. Returns "" after GPUPROF_OK and before the first such call.
 * Never NULL. The text is valid until the next such call on this thread, and is cut to 1023 bytes. Allocates nothing.
 */
GPUPROF_API const char* gpuprof_last_message(void);

/** Options of gpuprof_start(). Set struct_size to sizeof(gpuprof_options) and all other fields to zero for the defaults. */
typedef struct gpuprof_options {
  size_t struct_size; /**< sizeof(gpuprof_options), set by the caller */
  /** Name of the capture file; %h, %p, %n, %q{ENV} and %% are replaced as in GPUPROF_OUTPUT. NULL: GPUPROF_OUTPUT, else
   * "report%n". Only the first capture of a process chooses the file; later captures are appended to it as further windows.
   * The text is copied during the call. */
  const char* output;
} gpuprof_options;

/**
 * Starts a capture: after GPUPROF_OK, every kernel that this thread launches is recorded. Takes about 10 ms the first time.
 * `options` may be NULL. Does nothing and returns GPUPROF_OK if a capture is running already; by default one is running from
 * cuInit on. To capture nothing before gpuprof_start(), set GPUPROF_CAPTURE_RANGE=cudaProfilerApi or call gpuprof_stop() first.
 * Without a GPU, NVTX ranges are still recorded.
 *
 * Returns GPUPROF_INACTIVE in a forked child of a process that uses CUDA, in a process that is ending, and after the file has
 * reached its size limit; GPUPROF_TIMEOUT if another thread is switching a capture and this start is left to the background.
 */
GPUPROF_API gpuprof_status gpuprof_start(const gpuprof_options* options);

/**
 * Ends the capture and waits until everything that it saw is in the file. If no other capture can start by itself, the library
 * leaves CUPTI at the next CUDA call of the program, which then runs at full speed again. Returns GPUPROF_INACTIVE if no capture
 * was running, or if the file could not be made or written.
 */
GPUPROF_API gpuprof_status gpuprof_stop(void);

/**
 * Waits until everything that the capture has seen so far is in the file. Kernels that are still running are written later.
 * Returns GPUPROF_INACTIVE if nothing has been captured in this process, or if the file could not be made or written; totals and
 * metrics are up to date after that, too.
 */
GPUPROF_API gpuprof_status gpuprof_flush(void);

/**
 * Marks the beginning of the next step of the program: call it at the beginning of each step, and once after the last. In a
 * capture a step is an NVTX range "step" of the library's own domain "gpuprof". It lasts from this call to the next call on the
 * same thread, or to the end of the thread; its payload is the number of the call, from 1. If a capture holds three or more of
 * them, they are the steps of `gpuprof analyze` and `gpuprof compare`. A step that is still open when the process or the capture
 * ends does not count. Each thread has its own steps. Steps are not recorded outside of a capture, nor if GPUPROF_TRACE does not
 * include nvtx.
 *
 * A call also drives GPUPROF_SCHEDULE (wait, warm-up, active, repeat), whichever thread makes it. It takes about 50 ns, and
 * 100 ns with a schedule.
 */
GPUPROF_API gpuprof_status gpuprof_step(void);

/** Returns 1 while a capture is running, else 0. */
GPUPROF_API int gpuprof_is_capturing(void);

/** Totals of all kernels of one name. */
typedef struct gpuprof_kernel_total {
  size_t struct_size;    /**< size of this struct in bytes, set by the library */
  const char* name;      /**< mangled, as the driver has it; "(other)" for all names beyond the first 1024 */
  uint64_t launch_count; /**< number of executions */
  uint64_t total_ns;     /**< GPU time of all executions, in nanoseconds */
  uint64_t minimum_ns;   /**< GPU time of the shortest execution, in nanoseconds */
  uint64_t maximum_ns;   /**< GPU time of the longest execution, in nanoseconds */
} gpuprof_kernel_total;

/** Totals of all NVTX ranges of one name. */
typedef struct gpuprof_range_total {
  size_t struct_size;           /**< size of this struct in bytes, set by the library */
  const char* name;             /**< "domain:name", or only the name in the default domain */
  uint64_t range_count;         /**< number of ranges of this name that have ended */
  uint64_t cpu_ns;              /**< length of all these ranges on the CPU, in nanoseconds */
  uint64_t gpu_ns;              /**< GPU time of all kernels, copies and fills launched inside, in nanoseconds; see gpuprof_achieved */
  uint64_t gpu_operation_count; /**< number of kernels, copies and fills launched inside */
} gpuprof_range_total;

/** Source and destination of a copy. The values are those of CUpti_ActivityMemcpyKind. */
typedef enum gpuprof_copy_kind {
  GPUPROF_COPY_NONE = 0, /**< a fill, or not known */
  GPUPROF_COPY_HOST_TO_DEVICE = 1,
  GPUPROF_COPY_DEVICE_TO_HOST = 2,
  GPUPROF_COPY_HOST_TO_ARRAY = 3,
  GPUPROF_COPY_ARRAY_TO_HOST = 4,
  GPUPROF_COPY_ARRAY_TO_ARRAY = 5,
  GPUPROF_COPY_ARRAY_TO_DEVICE = 6,
  GPUPROF_COPY_DEVICE_TO_ARRAY = 7,
  GPUPROF_COPY_DEVICE_TO_DEVICE = 8,
  GPUPROF_COPY_HOST_TO_HOST = 9,
  GPUPROF_COPY_PEER_TO_PEER = 10
} gpuprof_copy_kind;

/** Returns e.g. "host to device". */
GPUPROF_API const char* gpuprof_copy_kind_name(gpuprof_copy_kind kind);

/** Totals of all copies of one kind, or of all fills. */
typedef struct gpuprof_copy_total {
  size_t struct_size;     /**< size of this struct in bytes, set by the library */
  gpuprof_copy_kind kind; /**< source and destination; GPUPROF_COPY_NONE for fills */
  int is_fill;            /**< 1: these are fills (memset), 0: copies */
  uint64_t copy_count;    /**< number of copies or fills */
  uint64_t bytes;         /**< bytes copied or filled, all together */
  uint64_t total_ns;      /**< GPU time of all of them, in nanoseconds */
} gpuprof_copy_total;

/** Family of a counter: the part of its name before the first dot. */
typedef enum gpuprof_counter_family {
  GPUPROF_COUNTER_OTHER = 0,
  GPUPROF_COUNTER_LOST = 1,    /**< "lost....": something that the capture lacks; 0 is good */
  GPUPROF_COUNTER_COST = 2,    /**< "cost....": what the profiler cost the program, most in nanoseconds */
  GPUPROF_COUNTER_NOTE = 3,    /**< "note....": something worth knowing that is no loss */
  GPUPROF_COUNTER_READINGS = 4 /**< "counters....": how reading of hardware counters went */
} gpuprof_counter_family;

/** A named counter of the profiler itself; docs/capture-format.md lists all names. */
typedef struct gpuprof_counter {
  size_t struct_size;            /**< size of this struct in bytes, set by the library */
  const char* name;              /**< e.g. "lost.kernels" */
  gpuprof_counter_family family; /**< family of the name */
  uint64_t value;                /**< a number of events, or nanoseconds if the name ends with "_ns" */
} gpuprof_counter;

/**
 * A snapshot of the totals since the process started capturing, sorted by time, longest first. Counters are as of the last flush
 * (every GPUPROF_FLUSH_INTERVAL_MS, default 500). Everything that it points to belongs to the snapshot.
 */
typedef struct gpuprof_totals {
  size_t struct_size;                         /**< size of this struct in bytes, set by the library */
  const gpuprof_kernel_total* const* kernels; /**< totals by kernel name */
  size_t kernel_name_count;                   /**< length of `kernels` */
  const gpuprof_copy_total* const* copies;    /**< totals by kind of copy */
  size_t copy_kind_count;                     /**< length of `copies` */
  const gpuprof_range_total* const* ranges;   /**< totals by range name */
  size_t range_name_count;                    /**< length of `ranges` */
  const gpuprof_counter* const* counters;     /**< losses, costs and notes */
  size_t counter_count;                       /**< length of `counters` */
  uint64_t launch_count;                      /**< number of executions of kernels of all names */
  uint64_t kernel_ns;                         /**< GPU time of all kernels, in nanoseconds */
} gpuprof_totals;

/**
 * Takes a snapshot of the totals, while a capture runs and after. Release it with gpuprof_release_totals(). Returns
 * GPUPROF_INACTIVE and sets *totals to NULL if nothing has been captured in this process.
 */
GPUPROF_API gpuprof_status gpuprof_take_totals(const gpuprof_totals** totals);

/** Frees a snapshot of gpuprof_take_totals(). `totals` may be NULL. */
GPUPROF_API void gpuprof_release_totals(const gpuprof_totals* totals);

/** Kind of arithmetic, as told apart in figures and roofs. */
typedef enum gpuprof_precision {
  GPUPROF_PRECISION_FP64 = 0,
  GPUPROF_PRECISION_FP32 = 1,
  GPUPROF_PRECISION_FP16 = 2, /**< FP16 and BF16 on CUDA cores: one instruction computes either */
  GPUPROF_PRECISION_FP8 = 3,
  GPUPROF_PRECISION_TENSOR_FP64 = 4,
  GPUPROF_PRECISION_TENSOR_TF32 = 5,
  GPUPROF_PRECISION_TENSOR_FP16 = 6,
  GPUPROF_PRECISION_TENSOR_BF16 = 7,
  GPUPROF_PRECISION_TENSOR_FP8 = 8,
  GPUPROF_PRECISION_TENSOR_FP6 = 9,
  GPUPROF_PRECISION_TENSOR_FP4 = 10,
  GPUPROF_PRECISION_TENSOR_INT8 = 11 /**< integer operations, which count in sums like FLOP */
} gpuprof_precision;

/** Returns e.g. "tensor_bf16". */
GPUPROF_API const char* gpuprof_precision_name(gpuprof_precision precision);

/** Operations of one precision, see gpuprof_achieved. */
typedef struct gpuprof_precision_rate {
  size_t struct_size;          /**< size of this struct in bytes, set by the library */
  gpuprof_precision precision; /**< kind of arithmetic */
  double flops;                /**< operations per second; 0: counted, and there are none */
  double of_peak;              /**< share of the measured peak at the clock the kernels ran at, 1 is all of it; NaN: not known */
} gpuprof_precision_rate;

/** How the FLOP of a line are known. */
typedef enum gpuprof_flops_source {
  GPUPROF_FLOPS_NOT_MEASURED = 0,
  GPUPROF_FLOPS_COUNTED = 1,        /**< counted around launches, in all precisions */
  GPUPROF_FLOPS_TENSOR_COUNTED = 2, /**< only the FLOP of tensor cores were counted */
  GPUPROF_FLOPS_SAMPLED = 3,        /**< from samples in time; the kernels compute nothing that samples do not show */
  GPUPROF_FLOPS_TENSOR_CYCLES = 4,  /**< only of tensor cores, in part from how long samples show them busy */
  GPUPROF_FLOPS_MACHINE_CODE = 5,   /**< 0 FLOP: the machine code of the kernels holds no instruction that computes */
  GPUPROF_FLOPS_DECLARED = 6        /**< by ranges of gpuprof.hpp that have ended; nothing was counted in them */
} gpuprof_flops_source;

/** Returns e.g. "tensor counted". */
GPUPROF_API const char* gpuprof_flops_source_name(gpuprof_flops_source source);

/** The limit that kernels are closest to. */
typedef enum gpuprof_bound {
  GPUPROF_BOUND_UNKNOWN = 0,
  GPUPROF_BOUND_LATENCY = 1, /**< all limits are known, and the kernels reach less than 40 % of each */
  GPUPROF_BOUND_DRAM = 2,
  GPUPROF_BOUND_L2 = 3,
  GPUPROF_BOUND_FP64 = 16 + GPUPROF_PRECISION_FP64, /**< the compute peak of a precision is 16 + its gpuprof_precision */
  GPUPROF_BOUND_FP32 = 16 + GPUPROF_PRECISION_FP32,
  GPUPROF_BOUND_FP16 = 16 + GPUPROF_PRECISION_FP16,
  GPUPROF_BOUND_FP8 = 16 + GPUPROF_PRECISION_FP8,
  GPUPROF_BOUND_TENSOR_FP64 = 16 + GPUPROF_PRECISION_TENSOR_FP64,
  GPUPROF_BOUND_TENSOR_TF32 = 16 + GPUPROF_PRECISION_TENSOR_TF32,
  GPUPROF_BOUND_TENSOR_FP16 = 16 + GPUPROF_PRECISION_TENSOR_FP16,
  GPUPROF_BOUND_TENSOR_BF16 = 16 + GPUPROF_PRECISION_TENSOR_BF16,
  GPUPROF_BOUND_TENSOR_FP8 = 16 + GPUPROF_PRECISION_TENSOR_FP8,
  GPUPROF_BOUND_TENSOR_FP6 = 16 + GPUPROF_PRECISION_TENSOR_FP6,
  GPUPROF_BOUND_TENSOR_FP4 = 16 + GPUPROF_PRECISION_TENSOR_FP4,
  GPUPROF_BOUND_TENSOR_INT8 = 16 + GPUPROF_PRECISION_TENSOR_INT8
} gpuprof_bound;

/** Returns the word of `gpuprof roofline`: "DRAM", "L2", "latency", "tensor BF16"; "" for GPUPROF_BOUND_UNKNOWN. */
GPUPROF_API const char* gpuprof_bound_name(gpuprof_bound bound);

/**
 * The rates that kernels achieve: those launched in the ranges of one name, those of one name, or all. Hardware counters are
 * read around some launches of each kernel and geometry, and are taken to hold for the other launches: a rate is what was
 * counted, divided by how long launches take when nothing is counted. If no counters were read around launches of a kernel,
 * samples of the whole GPU over time are divided among the kernels that ran; they tell bytes, occupancy, tensor activity and
 * clock. Each figure covers the kernels for which it is known in either way.
 *
 * A launch counts in the NVTX ranges that are open on its thread. If that thread has no push/pop range open, the launch counts
 * in the ranges that the main thread has open at that moment; if the main thread has none, in the range that any thread opened
 * last and in the ranges around it. (PyTorch runs backward passes on a thread without ranges.) A start/end range counts the
 * launches of all threads.
 *
 * A number that was not measured is NaN (x != x). 0 always means that there is none.
 */
typedef struct gpuprof_achieved {
  size_t struct_size;    /**< size of this struct in bytes, set by the library */
  const char* name;      /**< of a range: "domain:name", or only the name in the default domain; of a kernel: its mangled name, or
                              "[CUDA graph 3]"; "" for all kernels together */
  uint64_t launch_count; /**< number of executions of these kernels */
  double seconds;        /**< GPU time of these kernels, without copies and fills */
  double exact_share;    /**< share of `seconds`, 0 to 1, in kernels whose FLOP were counted in all precisions or whose machine
                              code computes nothing; samples in time do not count as exact */
  uint64_t reading_count;            /**< number of counter readings that tell something about these kernels, wherever launched */
  double flops;                      /**< FLOP per second, all precisions together */
  gpuprof_flops_source flops_source; /**< how `flops` is known */
  const gpuprof_precision_rate* const* precisions; /**< precisions that were counted, or that the machine code does not use; any
                                                        other precision is not known */
  size_t precision_count;            /**< length of `precisions` */
  double dram_bytes_per_second;      /**< bytes read and written, per second */
  double l2_bytes_per_second;        /**< bytes of all requests to the L2 cache, per second */
  double sm_clock_hz;                /**< mean SM clock while the kernels ran, in Hz */
  double occupancy;                  /**< warps on active SMs as a share of the most that fit, 0 to 1 */
  double tensor_active;              /**< share of the cycles of active SMs in which tensor cores were busy, 0 to 1 */
  double dram_of_peak;               /**< share of the measured DRAM peak for the nearest mix of reads and writes, 1 is all of it */
  double l2_of_peak;                 /**< share of the measured L2 peak at the clock of the kernels, 1 is all of it */
  double of_peak;                    /**< share of the peak that bounds the kernels: the highest of all shares, 1 is all of it */
  gpuprof_bound bound_by;            /**< which peak that is */
} gpuprof_achieved;

/** What the kernels of the last seconds achieve, by range and by kernel name, longest GPU time first. The snapshot owns it all. */
typedef struct gpuprof_metrics {
  size_t struct_size;                     /**< size of this struct in bytes, set by the library */
  const gpuprof_achieved* all;            /**< all kernels together */
  const gpuprof_achieved* const* ranges;  /**< by name of range; a kernel counts in all ranges around its launch */
  size_t range_name_count;                /**< length of `ranges` */
  const gpuprof_achieved* const* kernels; /**< by kernel name */
  size_t kernel_name_count;               /**< length of `kernels` */
  int has_peaks;                /**< 0: no peaks of these GPUs are stored (`gpuprof peaks` stores them), so no ..._of_peak is known */
  uint64_t reading_count;       /**< number of counter readings around launches that are used */
  uint64_t unused_reading_count; /**< number of readings not used, because other work ran beside them or records are missing */
} gpuprof_metrics;

/**
 * Takes a snapshot of what the kernels of the last 10 seconds achieve. Release it with gpuprof_release_metrics().
 * GPUPROF_METRICS=auto reads counters around launches and samples them over time, within GPUPROF_OVERHEAD_BUDGET;
 * GPUPROF_METRICS=sampled only samples, and delays no launch. The figures are those that `gpuprof roofline` computes for these
 * seconds. Readings around launches hold for later launches too, however long ago they were. No samples are used if filters
 * select kernels, or if records were lost.
 *
 *   const gpuprof_metrics* now = NULL;
 *   if (gpuprof_take_metrics(&now) == GPUPROF_OK)
 *     for (size_t i = 0; i < now->range_name_count; ++i)
 *       printf("%s: %.1f TFLOPS, %.0f GB/s\n", now->ranges[i]->name, now->ranges[i]->flops / 1e12,
 *              now->ranges[i]->dram_bytes_per_second / 1e9);
 *   gpuprof_release_metrics(now);
 *
 * The calling thread reads the end of the capture file for that, and all NVTX ranges: 0.15 to 0.2 s with 20,000 launches and
 * 2,500 samples of 8 metrics a second, after an hour like after a minute. The first call loads libgpuprof-capture.so, which lies
 * beside libgpuprof.so. Nothing touches the GPU. The 10 seconds end at the last flush (every
 * GPUPROF_FLUSH_INTERVAL_MS, default 500, or gpuprof_flush()), or at the end of the last capture. A kernel is counted in full some
 * time after it first ran, because counters that need several passes are read around several launches. A kernel in flight holds
 * back the end of the 10 seconds, by 10 s at most. Peaks are those that were stored when the first capture began.
 *
 * Returns GPUPROF_INACTIVE and sets *metrics to NULL if nothing has been captured in this process, if no counters are asked for,
 * or if the capture file or libgpuprof-capture.so cannot be read. If counters are asked for and the driver refuses them, times
 * are known and every other figure is NaN.
 */
GPUPROF_API gpuprof_status gpuprof_take_metrics(const gpuprof_metrics** metrics);

/** Frees a snapshot of gpuprof_take_metrics(). `metrics` may be NULL. */
GPUPROF_API void gpuprof_release_metrics(const gpuprof_metrics* metrics);

/**
 * Copies the path of the capture file into `buffer`, cut to `size` bytes with the terminating zero. Returns the length of the
 * whole path in bytes; 0 while there is no file. `buffer` may be NULL to ask only for the length.
 */
GPUPROF_API size_t gpuprof_capture_path(char* buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* GPUPROF_GPUPROF_H */
