/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * The C interface to the measured peaks of a GPU: what it really reaches, stored or measured now.
 *
 *   const gpuprof_peaks* roof = NULL;
 *   if (gpuprof_measure_peaks(NULL, &roof) == GPUPROF_OK)
 *     printf("%s: %g %s\n", roof->peaks[0]->title, roof->peaks[0]->burst, gpuprof_unit_name(roof->peaks[0]->unit));
 *   else
 *     fprintf(stderr, "no peaks: %s\n", gpuprof_last_message());
 *   gpuprof_release_peaks(roof);
 *
 * The functions are in libgpuprof.so, as those of <gpuprof/gpuprof.h>. What that header says of structs, enums and names holds
 * here, too.
 */
#ifndef GPUPROF_PEAKS_H
#define GPUPROF_PEAKS_H

#include <gpuprof/gpuprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Options of gpuprof_measure_peaks(). Set struct_size to sizeof(gpuprof_peaks_options) and all other fields to zero for the
 * defaults.
 */
typedef struct gpuprof_peaks_options {
  size_t struct_size; /**< sizeof(gpuprof_peaks_options), set by the caller */
  /** Names of tests and groups, separated by commas: "tensor_bf16,dram_read" or "memory". `gpuprof peaks --list` shows them.
   * NULL: all tests. An unknown name is GPUPROF_INVALID_ARGUMENT. */
  const char* tests;
  int device;  /**< the GPU as CUDA counts them in this process, from 0; a negative number is GPUPROF_INVALID_ARGUMENT */
  int quick;   /**< 1: fewer runs and no sustained figures, at most 1 s instead of up to 3 s */
  int force;   /**< 1: measure even while another process uses the GPU; the figures are then lower, and are not stored */
  int refresh; /**< 1: measure even if stored results answer */
} gpuprof_peaks_options;

/** A test of `gpuprof peaks`. */
typedef enum gpuprof_peak_test {
  GPUPROF_TEST_UNKNOWN = 0, /**< a test that this library does not know; see gpuprof_peak.title */
  GPUPROF_TEST_FP64 = 1,
  GPUPROF_TEST_FP32 = 2,
  GPUPROF_TEST_FP16 = 3,
  GPUPROF_TEST_BF16 = 4,
  GPUPROF_TEST_INT32 = 5,
  GPUPROF_TEST_SPECIAL = 6,
  GPUPROF_TEST_TENSOR_FP64 = 7,
  GPUPROF_TEST_TENSOR_TF32 = 8,
  GPUPROF_TEST_TENSOR_FP16 = 9,
  GPUPROF_TEST_TENSOR_FP16_ACC16 = 10,
  GPUPROF_TEST_TENSOR_BF16 = 11,
  GPUPROF_TEST_TENSOR_FP8 = 12,
  GPUPROF_TEST_TENSOR_INT8 = 13,
  GPUPROF_TEST_TENSOR_FP6 = 14,
  GPUPROF_TEST_TENSOR_FP4 = 15,
  GPUPROF_TEST_DRAM_READ = 16,
  GPUPROF_TEST_DRAM_WRITE = 17,
  GPUPROF_TEST_DRAM_COPY = 18,
  GPUPROF_TEST_DRAM_TRIAD = 19,
  GPUPROF_TEST_L2_READ = 20,
  GPUPROF_TEST_L2_WRITE = 21,
  GPUPROF_TEST_SHARED_READ = 22,
  GPUPROF_TEST_SHARED_WRITE = 23,
  GPUPROF_TEST_L1_READ = 24,
  GPUPROF_TEST_H2D = 25,
  GPUPROF_TEST_D2H = 26,
  GPUPROF_TEST_H2D_D2H = 27,
  GPUPROF_TEST_H2D_PAGEABLE = 28,
  GPUPROF_TEST_D2H_PAGEABLE = 29,
  GPUPROF_TEST_P2P = 30,
  GPUPROF_TEST_LAUNCH_LATENCY = 31,
  GPUPROF_TEST_LAUNCH_THROUGHPUT = 32,
  GPUPROF_TEST_GRAPH_NODE = 33,
  GPUPROF_TEST_SYNCHRONIZE = 34
} gpuprof_peak_test;

/** Returns the name that gpuprof_peaks_options.tests takes, e.g. "tensor_bf16". */
GPUPROF_API const char* gpuprof_peak_test_name(gpuprof_peak_test test);

/** Unit of the figures of a peak. */
typedef enum gpuprof_unit {
  GPUPROF_UNIT_UNKNOWN = 0,
  GPUPROF_UNIT_FLOP_PER_SECOND = 1,
  GPUPROF_UNIT_OP_PER_SECOND = 2, /**< integer and other operations */
  GPUPROF_UNIT_BYTE_PER_SECOND = 3,
  GPUPROF_UNIT_SECOND = 4 /**< less is better */
} gpuprof_unit;

/** Returns "FLOP/s", "op/s", "B/s" or "s". */
GPUPROF_API const char* gpuprof_unit_name(gpuprof_unit unit);

/** Clock that gpuprof_peak.per_clock refers to. */
typedef enum gpuprof_clock {
  GPUPROF_CLOCK_NONE = 0,  /**< per_clock is not known */
  GPUPROF_CLOCK_SM = 1,    /**< per cycle of the SM clock and per SM */
  GPUPROF_CLOCK_MEMORY = 2 /**< per cycle of the memory clock */
} gpuprof_clock;

/** Returns "SM clock per SM" or "memory clock"; "" for GPUPROF_CLOCK_NONE. */
GPUPROF_API const char* gpuprof_clock_name(gpuprof_clock clock);

/** Outcome of one test. */
typedef enum gpuprof_outcome {
  GPUPROF_OUTCOME_UNAVAILABLE = 0, /**< this chip, driver or machine has nothing to measure here */
  GPUPROF_OUTCOME_MEASURED = 1,    /**< there are figures */
  GPUPROF_OUTCOME_FAILED = 2       /**< the test ran, but its result cannot be right, so there are no figures */
} gpuprof_outcome;

/** Reason why the GPU lowered its clocks: bits of gpuprof_peak.limiters, as in NVML's clocks event reasons. */
typedef enum gpuprof_limiter {
  GPUPROF_LIMITER_IDLE = 0x1,
  GPUPROF_LIMITER_APPLICATION_CLOCKS = 0x2, /**< clocks that a user or administrator has set */
  GPUPROF_LIMITER_POWER_CAP = 0x4,
  GPUPROF_LIMITER_HARDWARE_SLOWDOWN = 0x8, /**< set together with the more exact hardware reasons below */
  GPUPROF_LIMITER_SYNC_BOOST = 0x10,
  GPUPROF_LIMITER_SOFTWARE_THERMAL = 0x20,
  GPUPROF_LIMITER_HARDWARE_THERMAL = 0x40,
  GPUPROF_LIMITER_POWER_BRAKE = 0x80,
  GPUPROF_LIMITER_DISPLAY_CLOCKS = 0x100
} gpuprof_limiter;

/** Returns the name of one bit, e.g. "power cap". */
GPUPROF_API const char* gpuprof_limiter_name(gpuprof_limiter limiter);

/** Result of one test. A number that was not measured or is not known is 0, and a text is then "". A text is never NULL. */
typedef struct gpuprof_peak {
  size_t struct_size;            /**< size of this struct in bytes, set by the library */
  gpuprof_peak_test test;        /**< which test */
  const char* title;             /**< "Tensor BF16"; tells the peers of peer copies apart */
  gpuprof_unit unit;             /**< unit of burst, sustained and theory */
  gpuprof_outcome outcome;       /**< unless it is GPUPROF_OUTCOME_MEASURED there are no figures; `remark` says why */
  gpuprof_clock clock;           /**< clock that per_clock and per_clock_theory refer to */
  double per_clock;              /**< FLOP, operations or bytes in one clock cycle, as measured */
  double per_clock_theory;       /**< FLOP, operations or bytes in one clock cycle, by the datasheet of the chip */
  double burst;                  /**< best of several runs of about 1 ms; the median if the unit is seconds */
  double burst_spread;           /**< (greatest - least) / median of these runs */
  double burst_sm_clock_mhz;     /**< SM clock in these runs, in MHz */
  double sustained;              /**< last third of a run of 150 ms or more; 0 if power does not limit the test */
  double sustained_sm_clock_mhz; /**< SM clock in that run, in MHz */
  double sustained_watts;        /**< power of the board in that run, in watts */
  double theory;                 /**< what the GPU could do at its highest clocks */
  uint64_t limiters;             /**< gpuprof_limiter bits: why clocks were lowered during the test */
  const char* method;            /**< instruction or call that was used, "wgmma m64n256k16" */
  const char* operands;          /**< values that were computed on, "random" */
  const char* remark;            /**< one line: what is missing, or what lowers the figures */
  const char* measured_at;       /**< time in UTC, "2026-03-01T12:00:00Z" */
} gpuprof_peak;

/** Results of one GPU, in the order of `gpuprof peaks --list`. Everything that it points to belongs to it. */
typedef struct gpuprof_peaks {
  size_t struct_size;               /**< size of this struct in bytes, set by the library */
  const char* gpu;                  /**< name of the GPU, "NVIDIA H200" */
  const char* uuid;                 /**< "GPU-..." or "MIG-..." */
  int stored;                       /**< 1: stored results were returned and nothing was measured, 0: measured now */
  const char* origin;               /**< one line: when it was measured and where it is stored */
  const char* remarks;              /**< what to know about all results (a MIG slice, MPS), one line each, separated by "\n" */
  const gpuprof_peak* const* peaks; /**< one result for each test, and for each peer of a peer copy */
  size_t peak_count;                /**< length of `peaks` */
} gpuprof_peaks;

/**
 * Gives what a GPU really reaches: stored results if there are any, else it measures and stores them, as `gpuprof peaks` does.
 * Release the results with gpuprof_release_peaks().
 *
 * `options` may be NULL. Stored results take about 100 ms. Measuring takes up to 3 s, in which the calling thread waits. It uses
 * the primary context of the device (made and released if the program has none) and at most 5 GiB of its memory. Measure before
 * the program uses the GPU: work beside it lowers the figures, and an error in a kernel would also end the program's context.
 * Only one call measures at a time.
 *
 * Nothing is measured while a capture runs in this process, because the capture would be full of kernels that the program never
 * launched. By default a capture runs from cuInit on, which this function calls: set GPUPROF_CAPTURE_RANGE=cudaProfilerApi, or
 * call cuInit and gpuprof_stop() first, or store results beforehand (`gpuprof peaks`).
 *
 * Returns GPUPROF_INACTIVE and sets *peaks to NULL if a capture runs, there is no such GPU, or another process uses it. Returns
 * GPUPROF_OK also if single tests failed.
 */
GPUPROF_API gpuprof_status gpuprof_measure_peaks(const gpuprof_peaks_options* options, const gpuprof_peaks** peaks);

/** Frees results of gpuprof_measure_peaks(). `peaks` may be NULL. */
GPUPROF_API void gpuprof_release_peaks(const gpuprof_peaks* peaks);

#ifdef __cplusplus
}
#endif

#endif /* GPUPROF_PEAKS_H */
