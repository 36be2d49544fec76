/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * The C interface of libgpuprof: start, stop and query captures from inside a program.
 *
 *   gpuprof_start(NULL);
 *   train_one_epoch();
 *   gpuprof_stop();
 *
 * Every function may be called on any thread, at any time, also before CUDA is initialised and on machines with no GPU. None
 * throws, aborts or prints to stdout; none changes the device, context, stream or clocks; none but gpuprof_measure_peaks()
 * runs anything on a GPU. All settings come from GPUPROF_* environment variables (see `man gpuprof`); what the functions are
 * given here goes before them.
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

/** Of this header. gpuprof_version() tells that of the library, which may be another. */
#define GPUPROF_VERSION_MAJOR 0
#define GPUPROF_VERSION_MINOR 1
#define GPUPROF_VERSION_PATCH 0

/*
 * Structs grow at their end. What a program hands over says in struct_size how much of it the program knows; what the library
 * hands out, how much of it this library has. Lists are of pointers for that reason: a program built with another version of
 * this header steps through them all the same. Read a field only where struct_size covers it.
 */

/** What a call came to. */
typedef enum gpuprof_status {
  GPUPROF_OK = 0,
  /** Nothing is being captured (or measured) and nothing could be: a child forked after CUDA had begun, a process going down, no resources, no GPU.
   * The program is not affected; the reason has been logged. */
  GPUPROF_INACTIVE = 1,
  /** A null pointer, a struct_size that fits no known version of the struct, or a value that its field does not allow. Nothing
   * was done. */
  GPUPROF_INVALID_ARGUMENT = 2,
  /** The call's time limit (GPUPROF_FLUSH_TIMEOUT_MS, default 2 s) passed first. What was asked for goes on in the background. */
  GPUPROF_TIMEOUT = 3
} gpuprof_status;

/** The library's version, e.g. "0.1.0". Never NULL; lives as long as the library. */
GPUPROF_API const char* gpuprof_version(void);

/**
 * Options of gpuprof_start(). Set struct_size to sizeof(gpuprof_options) and all else to zero for the defaults.
 */
typedef struct gpuprof_options {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  /** Name of the capture file, with %h %p %n %q{ENV} %%. NULL: GPUPROF_OUTPUT, else "report%n". Only the first capture of a
   * process chooses the file; later ones are appended to it as further windows. The text is copied. */
  const char* output;
} gpuprof_options;

/**
 * Starts a capture: when it returns GPUPROF_OK, every kernel this thread launches from now on is recorded. Takes about 10 ms
 * the first time. `options` may be NULL. Starting a running capture again is not an error and does nothing: and unless the
 * environment says otherwise, one is running from cuInit on. Set GPUPROF_CAPTURE_RANGE=cudaProfilerApi to have none until
 * gpuprof_start(), or call gpuprof_stop() first.
 */
GPUPROF_API gpuprof_status gpuprof_start(const gpuprof_options* options);

/**
 * Ends the capture and waits until all it saw is in the file. When no other capture can start by itself, CUPTI is left at the
 * program's next CUDA call and the program runs at full speed again. GPUPROF_INACTIVE when none was running.
 */
GPUPROF_API gpuprof_status gpuprof_stop(void);

/** Waits until all that the capture has seen so far is in the file. Kernels still running come later. */
GPUPROF_API gpuprof_status gpuprof_flush(void);

/**
 * The program begins its next step: call it at the beginning of each, and once after the last. In a capture a step is a range
 * "step" of the NVTX domain "gpuprof", which is the library's own, from this call to the next of the same thread or its end; its
 * payload is the number of the call, from 1. Where there are three or more, they are the steps of `gpuprof analyze` and
 * `gpuprof compare`; one that is still open when the process or the capture ends is not. Each thread has steps of its own. Steps
 * outside of a capture, or with GPUPROF_TRACE without nvtx, are not recorded.
 * A call also drives GPUPROF_SCHEDULE (wait, warm-up, active, repeat), whatever the thread that makes it. It takes some
 * 50 ns, with a schedule 100.
 */
GPUPROF_API gpuprof_status gpuprof_step(void);

/** 1 while a capture is running, else 0. */
GPUPROF_API int gpuprof_is_capturing(void);

/** Totals of the kernels of one name. Times in nanoseconds. */
typedef struct gpuprof_kernel_total {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  const char* name; /**< mangled, as the driver has it; "(other)" for all beyond the 1024 names that are told apart */
  uint64_t count;      /**< launches */
  uint64_t total_ns;   /**< of all launches together */
  uint64_t minimum_ns; /**< the shortest */
  uint64_t maximum_ns; /**< the longest */
} gpuprof_kernel_total;

/** Totals of the NVTX ranges of one name. */
typedef struct gpuprof_range_total {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  const char* name;  /**< "domain:name", or the bare name in the default domain */
  uint64_t count;    /**< ranges of this name that have ended */
  uint64_t cpu_ns;   /**< their length, on the CPU */
  uint64_t gpu_ns;   /**< GPU time of all kernels, copies and fills launched inside: see gpuprof_achieved */
  uint64_t gpu_operations; /**< kernels, copies and fills launched inside */
} gpuprof_range_total;

/** From where to where; the numbers are those of CUpti_ActivityMemcpyKind, which may get more. */
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

/** Totals of the copies of one kind, or of fills. */
typedef struct gpuprof_copy_total {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  gpuprof_copy_kind kind; /**< from where to where */
  int is_fill;            /**< 1: a memset */
  uint64_t count;         /**< copies */
  uint64_t bytes;         /**< of all together */
  uint64_t total_ns;      /**< likewise, on the GPU */
} gpuprof_copy_total;

/** A named counter of losses ("lost....") or costs ("cost....", unit in the name); docs/capture-format.md lists them. */
typedef struct gpuprof_counter {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  const char* name; /**< "lost.kernels" */
  uint64_t value;   /**< in the unit that its name ends with */
} gpuprof_counter;

/**
 * A snapshot of the totals since the process started capturing, the longest first. Counters are as of the last flush
 * (GPUPROF_FLUSH_INTERVAL_MS, default 500). All it points to belongs to the snapshot.
 */
typedef struct gpuprof_totals {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  const gpuprof_kernel_total* const* kernels; /**< by name */
  size_t kernel_names;                        /**< how many of these */
  const gpuprof_copy_total* const* copies;    /**< by kind */
  size_t copy_kinds;                          /**< how many of these */
  const gpuprof_range_total* const* ranges;   /**< by name */
  size_t range_names;                         /**< how many of these */
  const gpuprof_counter* const* counters;     /**< of losses and costs */
  size_t counter_names;                       /**< how many of these */
  uint64_t kernel_count;                      /**< kernels of all names */
  uint64_t kernel_ns;                         /**< their time on the GPU */
} gpuprof_totals;

/**
 * Takes a snapshot; release it with gpuprof_release_totals(). Works while a capture runs and after. GPUPROF_INACTIVE, and
 * *totals = NULL, when nothing has been captured in this process.
 */
GPUPROF_API gpuprof_status gpuprof_take_totals(const gpuprof_totals** totals);

/** NULL is allowed. */
GPUPROF_API void gpuprof_release_totals(const gpuprof_totals* totals);

/** Operations of one precision, as in gpuprof_achieved. */
typedef struct gpuprof_precision_rate {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  const char* name; /**< "fp32", "tensor_bf16", ...; what "tensor_int8" counts are integer operations */
  double flops;     /**< per second; 0: it was counted that there are none */
  double of_peak;   /**< 1 is the measured peak at the clock the kernels ran at; NaN: not known */
} gpuprof_precision_rate;

/**
 * What the kernels launched in the ranges of one name, or the kernels of one name, achieve. Hardware counters are read around
 * some launches of each kernel and geometry, and hold for the others: rates are what was counted over how long launches take
 * around which nothing is counted. Where none was read around launches, samples of the whole GPU, taken in time and divided among
 * what ran, stand for bytes, occupancy, tensor cores and clock. Each figure is of those kernels of which it is known, by either
 * way.
 *
 * A launch counts in the NVTX ranges open on its thread. From a thread that has no push/pop range open it counts in those that the
 * program's main thread has open at that moment, or, where that has none, in the one that any thread opened last and in those
 * around it: backward passes of PyTorch run on a thread without ranges. start/end ranges count what any thread launches.
 *
 * A number that nobody counted is NaN (x != x), a text that is not known is "": 0 always says that there is none.
 */
typedef struct gpuprof_achieved {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  const char* name;           /**< of a range "domain:name", or the bare name in the default domain; of a kernel mangled, as the
                                   driver has it, or "[CUDA graph 3]"; "(other)" for all beyond some thousands */
  uint64_t launches;          /**< of these kernels */
  double seconds;             /**< GPU time of these kernels; copies and fills are not in it */
  double exact_share;         /**< of those seconds, 0 to 1: launches whose FLOP are counted in all precisions, or whose machine
                                   code holds nothing that computes; samples in time
                                   count none, and tell of bytes, occupancy and clock where this is 0 */
  uint64_t readings;          /**< of counters around launches that tell something about these kernels, wherever launched */
  double flops;               /**< FLOP per second, of all precisions together */
  const char* flops_source;   /**< "counted", "tensor counted" (tensor cores alone), "tensor cycles" (as well, of some kernels by how
                                   long they were busy in samples), "sampled" (likewise, but the kernels compute nothing else),
                                   "machine code" (0: the kernels hold nothing that computes), "declared" (by the markers of ranges in which nothing is
                                   counted, of those that are over, see gpuprof.hpp), "not measured" */
  const gpuprof_precision_rate* const* precisions; /**< those that were counted, and those of which the machine code holds
                                                  none; others are not known */
  size_t precision_count;       /**< how many of these */
  double dram_bytes_per_second; /**< read and written */
  double l2_bytes_per_second;   /**< of all requests to the L2 cache */
  double sm_clock_hz;         /**< mean while they ran */
  double occupancy;           /**< warps on active SMs, 1 is as many as fit */
  double tensor_active;       /**< of the cycles of active SMs, 0 to 1 */
  double dram_of_peak;        /**< 1 is the measured peak for the nearest mix of reads and writes */
  double l2_of_peak;          /**< 1 is the measured peak at their clock */
  double of_peak;             /**< of the peak that bounds them, 1 is all of it: the highest share of all */
  const char* bound_by;       /**< "DRAM", "L2", "latency", or the precision as in `gpuprof roofline`: "tensor BF16" */
} gpuprof_achieved;

/**
 * What this process achieves, by range and by kernel name, longest GPU time first. All it points to belongs to the snapshot.
 */
typedef struct gpuprof_metrics {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  const gpuprof_achieved* all;            /**< all kernels together; its name is "" */
  const gpuprof_achieved* const* ranges;  /**< names of ranges with kernels; a kernel counts in all ranges around its launch */
  size_t range_names;                     /**< how many of these */
  const gpuprof_achieved* const* kernels; /**< by name */
  size_t kernel_names;                    /**< how many of these */
  int has_peaks;               /**< 0: nothing is stored of these GPUs (`gpuprof peaks` does that), no ..._of_peak is known */
  uint64_t readings;           /**< of counters around launches; all those that tell something */
  uint64_t readings_left_out;  /**< for work that ran beside, and for records that are missing */
} gpuprof_metrics;

/**
 * Takes a snapshot since the process started capturing, so that a program can watch itself: GPUPROF_METRICS=auto reads counters
 * around launches and samples them in time, within GPUPROF_OVERHEAD_BUDGET; GPUPROF_METRICS=sampled does the latter alone and
 * holds up no launch. Of samples one window a second is used, and the last eight since the snapshot before, less than in the
 * reports of the capture, and the 50 kernels in it that ran longest; none where filters leave out kernels. Release it with
 * gpuprof_release_metrics().
 *
 *   const gpuprof_metrics* now = NULL;
 *   if (gpuprof_take_metrics(&now) == GPUPROF_OK)
 *     for (size_t i = 0; i < now->range_names; ++i)
 *       printf("%s: %.1f TFLOPS, %.0f GB/s\n", now->ranges[i]->name, now->ranges[i]->flops / 1e12,
 *              now->ranges[i]->dram_bytes_per_second / 1e9);
 *   gpuprof_release_metrics(now);
 *
 * Any thread; takes a millisecond, with thousands of different kernels some tens of them, and 10 to 30 ms for each of those
 * windows; does not touch the GPU. As of the last flush (GPUPROF_FLUSH_INTERVAL_MS, default 500, or gpuprof_flush()). A kernel is
 * counted in full some time after it first ran: what takes several passes is read around as many launches. A kernel in flight
 * holds back the readings since its launch, for 10 s at most. Peaks are those stored when the first capture began.
 *
 * GPUPROF_INACTIVE, and *metrics = NULL, when nothing has been captured in this process or the settings ask for no counters.
 * Where they ask and the driver refuses, times are there and all else is not known.
 */
GPUPROF_API gpuprof_status gpuprof_take_metrics(const gpuprof_metrics** metrics);

/** NULL is allowed. */
GPUPROF_API void gpuprof_release_metrics(const gpuprof_metrics* metrics);

/**
 * Copies the path of the capture file into `buffer`, zero-terminated and cut to `size`. Returns the length of the whole path;
 * 0 while there is no file.
 */
GPUPROF_API size_t gpuprof_capture_path(char* buffer, size_t size);

/**
 * Options of gpuprof_measure_peaks(). Set struct_size to sizeof(gpuprof_peaks_options) and all else to zero for the defaults.
 */
typedef struct gpuprof_peaks_options {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  /** Names of tests and groups, separated by commas: "tensor_bf16,dram_read" or "memory". `gpuprof peaks --list` shows them.
   * NULL: all. An unknown name is GPUPROF_INVALID_ARGUMENT. */
  const char* tests;
  /** The GPU, as CUDA counts them in this process; 0 is the first. A negative one is GPUPROF_INVALID_ARGUMENT. */
  int device;
  int quick;   /**< 1: fewer runs, no sustained figures: a second at most instead of up to three */
  int force;   /**< 1: measure also while another process loads the GPU; the figures are lower then, and not stored */
  int refresh; /**< 1: measure even when stored results answer */
} gpuprof_peaks_options;

/** What one test came to. Numbers that were not measured or that nobody knows are 0, texts are then "". Never NULL. */
typedef struct gpuprof_peak {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  const char* name;         /**< "tensor_bf16" */
  const char* title;        /**< "Tensor BF16, FP32 accumulate"; tells the peers of peer copies apart */
  const char* unit;         /**< of burst, sustained and theory: "FLOP/s", "op/s", "B/s", or "s", where less is better */
  int measured;             /**< 0: no figures, because it failed or this GPU has nothing to measure; `remark` says why */
  const char* clock;        /**< what per_clock is of: "SM clock per SM", "memory clock", or "" */
  double per_clock;         /**< FLOP, operations or bytes in one clock cycle */
  double per_clock_theory;  /**< the same by the chip's datasheet */
  double burst;             /**< the best of several runs of about a millisecond; of times, the median */
  double burst_spread;      /**< (greatest - least) / median of those runs */
  double burst_sm_clock_mhz; /**< while that ran */
  double sustained;         /**< the last third of a run of 150 ms or more; 0 where power does not matter */
  double sustained_sm_clock_mhz; /**< while that ran */
  double sustained_watts;   /**< of the board */
  double theory;            /**< what the GPU could do at its greatest clocks */
  uint64_t limiters;        /**< what held the clocks down: bits of NVML's clocks event reasons */
  const char* method;       /**< instruction or call: "wgmma m64n256k16" */
  const char* operands;     /**< "random" */
  const char* remark;       /**< one line on what is missing or lessens the figures */
  const char* measured_at;  /**< "2026-03-01T12:00:00Z" */
} gpuprof_peak;

/** Results for one GPU, in the order of `gpuprof peaks --list`. All it points to belongs to it. */
typedef struct gpuprof_peaks {
  size_t struct_size; /**< of this struct, as who filled it knows it */
  const char* gpu;     /**< "NVIDIA H200" */
  const char* uuid;    /**< "GPU-..." or "MIG-..." */
  int stored;          /**< 1: nothing was measured now, stored results answered */
  const char* origin;  /**< one line: measured when, stored where */
  const char* remarks; /**< what to know of all of it (a MIG slice, MPS), a line each, without a line end after the last */
  const gpuprof_peak* const* peaks; /**< one a test */
  size_t peak_count;                /**< how many of these */
} gpuprof_peaks;

/**
 * What a GPU really reaches: stored results where they answer, else measured now and stored, as `gpuprof peaks` does.
 *
 *   const gpuprof_peaks* roof = NULL;
 *   if (gpuprof_measure_peaks(NULL, &roof) == GPUPROF_OK)
 *     printf("%s: %g %s\n", roof->peaks[0]->name, roof->peaks[0]->burst, roof->peaks[0]->unit);
 *   gpuprof_release_peaks(roof);
 *
 * `options` may be NULL. Stored results answer within some 100 ms. To measure takes up to 3 s, in which the calling thread
 * waits. It works in the device's primary context (made and released when the program has none) with at most 5 GiB of its
 * memory: best before the program uses the GPU, since work beside it lessens the figures, and an error of a kernel would end
 * the program's context too. Calls are served one after the other.
 *
 * Nothing is measured while a capture runs in this process: it would be full of kernels the program never launched. And unless
 * the environment says otherwise, one runs from cuInit on, which this function calls: set
 * GPUPROF_CAPTURE_RANGE=cudaProfilerApi, or call cuInit and gpuprof_stop() first, or have results stored (`gpuprof peaks`).
 *
 * GPUPROF_INACTIVE, *peaks = NULL and one line in the log: a capture runs, there is no such GPU, another process loads it.
 * GPUPROF_OK also when single tests failed. Release the results with gpuprof_release_peaks().
 */
GPUPROF_API gpuprof_status gpuprof_measure_peaks(const gpuprof_peaks_options* options, const gpuprof_peaks** peaks);

/** NULL is allowed. */
GPUPROF_API void gpuprof_release_peaks(const gpuprof_peaks* peaks);

#ifdef __cplusplus
}
#endif

#endif /* GPUPROF_GPUPROF_H */
