/*
 * The C interface of libgpuprof: start, stop and query captures from inside a program.
 *
 *   gpuprof_start(NULL);
 *   train_one_epoch();
 *   gpuprof_stop();
 *
 * Every function may be called on any thread, at any time, also before CUDA is initialised and on machines with no GPU. None
 * throws, aborts or prints to stdout; none changes the device, context, stream or clocks. All settings come from GPUPROF_*
 * environment variables (see `man gpuprof`); what the functions are given here goes before them.
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

/** What a call came to. */
typedef enum gpuprof_status {
  GPUPROF_OK = 0,
  /** Nothing is being captured and nothing could be: a forked child, a process going down, no resources. The program is not
   * affected; the reason has been logged. */
  GPUPROF_INACTIVE = 1,
  /** A null pointer, or a struct_size that fits no known version of the struct. Nothing was done. */
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
  size_t struct_size;
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

/** The program begins its next step: drives GPUPROF_SCHEDULE (wait, warm-up, active, repeat). Nothing without one. */
GPUPROF_API gpuprof_status gpuprof_step(void);

/** 1 while a capture is running, else 0. */
GPUPROF_API int gpuprof_is_capturing(void);

/** Totals of one kernel name, one kind of copy or one range name. Times in nanoseconds. */
typedef struct gpuprof_kernel_total {
  const char* name; /**< mangled, as the driver has it; "(other)" for all beyond the 1024 names that are told apart */
  uint64_t count;
  uint64_t total_ns, minimum_ns, maximum_ns;
} gpuprof_kernel_total;

typedef struct gpuprof_range_total {
  const char* name;  /**< "domain:name", or the bare name in the default domain */
  uint64_t count;    /**< ranges of this name that have ended */
  uint64_t cpu_ns;   /**< their length, on the CPU */
  uint64_t gpu_ns;   /**< GPU time of all kernels, copies and fills launched inside */
  uint64_t gpu_operations;
} gpuprof_range_total;

typedef struct gpuprof_copy_total {
  int kind;      /**< CUpti_ActivityMemcpyKind: 1 host to device, 2 device to host, 8 device to device, 10 peer; 0 for fills */
  int is_fill;   /**< 1: a memset */
  uint64_t count, bytes, total_ns;
} gpuprof_copy_total;

/** A named counter of losses ("lost....") or costs ("cost....", unit in the name); libgpuprof/capture/README.md lists them. */
typedef struct gpuprof_counter {
  const char* name;
  uint64_t value;
} gpuprof_counter;

/**
 * A snapshot of the totals since the process started capturing, the longest first. Counters are as of the last flush
 * (GPUPROF_FLUSH_INTERVAL_MS, default 500). All it points to belongs to the snapshot.
 */
typedef struct gpuprof_totals {
  const gpuprof_kernel_total* kernels;
  size_t kernel_names;
  const gpuprof_copy_total* copies;
  size_t copy_kinds;
  const gpuprof_range_total* ranges;
  size_t range_names;
  const gpuprof_counter* counters;
  size_t counter_names;
  uint64_t kernel_count; /**< kernels of all names */
  uint64_t kernel_ns;
} gpuprof_totals;

/**
 * Takes a snapshot; release it with gpuprof_release_totals(). Works while a capture runs and after. GPUPROF_INACTIVE, and
 * *totals = NULL, when nothing has been captured in this process.
 */
GPUPROF_API gpuprof_status gpuprof_take_totals(const gpuprof_totals** totals);

/** NULL is allowed. */
GPUPROF_API void gpuprof_release_totals(const gpuprof_totals* totals);

/**
 * Copies the path of the capture file into `buffer`, zero-terminated and cut to `size`. Returns the length of the whole path;
 * 0 while there is no file.
 */
GPUPROF_API size_t gpuprof_capture_path(char* buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* GPUPROF_GPUPROF_H */
