// SPDX-License-Identifier: Apache-2.0
// The user's options as typed values.
#pragma once

#include "base/log.hpp"
#include "base/time.hpp"
#include "model/kernel_pattern.hpp"
#include "model/process_rank.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest {

/// The kinds of events that are recorded.
struct trace_set {
  bool cuda = true;          // kernels, copies, memsets, graphs
  bool nvtx = true;          // ranges and marks
  bool blocking = true;      // driver calls that wait, allocate or load
  bool cuda_api = false;     // all calls of the runtime and driver API, including the blocking ones
  bool cuda_memory = false;  // allocation and release of device memory
  bool sync = false;         // synchronization calls
  bool um = false;           // unified-memory counters
  friend bool operator==(trace_set const&, trace_set const&) = default;
};

enum class capture_range { none, cuda_profiler_api, nvtx };

enum class range_end_action {
  none,            // the end of the range is ignored
  stop,            // the capture ends, the program continues
  stop_shutdown,   // the capture ends, then the program is asked to end (SIGTERM)
  repeat,          // each range is a capture
  repeat_shutdown  // like repeat, but after the last one the program is asked to end
};

struct capture_range_end {
  range_end_action action = range_end_action::stop;
  std::uint32_t count = 0;  // number of captures if repeating; 0: no limit
  friend bool operator==(capture_range_end const&, capture_range_end const&) = default;
};

/// An NVTX range to look for: `name@domain`. `name` without a domain means the default domain,
/// `name@*` any domain.
struct range_pattern {
  std::string name;
  std::string domain;  // empty: the default domain
  bool any_domain = false;
  friend bool operator==(range_pattern const&, range_pattern const&) = default;
};

/// PyTorch's profiler schedule, counted in steps. Warmup steps are traced, but their records are
/// discarded.
struct step_schedule {
  std::uint32_t wait = 0, warmup = 0, active = 1, repeat = 1, skip_first = 0;  // repeat 0: no limit
  friend bool operator==(step_schedule const&, step_schedule const&) = default;
};

enum class graph_detail { automatic, graph, node };

/// Which launches get the Python stack of their thread. Automatic: all of them, or
/// as many as can be read in 0.5 % of the thread's time.
enum class python_backtrace { none, automatic, all };

/// Which calls get the native stack of their thread.
struct native_backtrace {
  bool kernels = false, copies = false, waits = false, others = false;
  bool allocations = true, long_waits = true;
  friend bool operator==(native_backtrace const&, native_backtrace const&) = default;
};

/// Which threads of the program are looked at about 100 times a second.
enum class thread_sampling { none, process };

/// Whether PyTorch's operators, autograd nodes and record_function become ranges.
enum class torch_recording { none, operators };

/// Whether source lines of the program's own Python frames are stored in the capture.
enum class source_storing { none, own };

enum class metrics_mode { none, automatic, sampled, exact };

/// Kernels that wait for other GPUs, in the syntax of --metrics-skip: those of NCCL, NVSHMEM,
/// MSCCL++ and DeepEP, the all-reduces of vLLM, SGLang, TensorRT-LLM and FlashInfer (one-shot,
/// two-shot, Lamport), PyTorch's symmetric memory, and any kernel named after a collective.
inline constexpr std::string_view collectives_to_skip =
    "regex:nccl|nvshmem|mscclpp|deep_ep|cross_device_reduce|all_?reduce|all_?gather|"
    "reduce_?scatter|all_?to_?all|moea2a|multimem|symm(etric)?_?mem|userbuffers|lamport";
std::vector<kernel_pattern> kernels_of_collectives();

/// The hardware counters to read, and their allowed cost.
struct metrics_options {
  metrics_mode mode = metrics_mode::none;
  std::vector<std::string> words;        // sets and metrics as given; empty: the set roofline
  double budget_percent = 1;             // limit in percent of the run time
  std::optional<std::uint64_t> once_ns;  // one-time cost per process; empty: as the metrics need
  std::uint64_t interval_ns = 20'000;    // sampling interval
  std::vector<kernel_pattern> skip = kernels_of_collectives();  // never counted
  friend bool operator==(metrics_options const&, metrics_options const&) = default;

  /// True if the set `explain` was chosen. It explains slow kernels even if the run is short.
  bool explains() const;
  std::uint64_t may_cost_once_ns() const;
};

/// --metrics and --set as given, in any order. The mode and words of metrics_options come from
/// both.
struct given_metrics {
  std::optional<metrics_mode> mode;
  std::vector<std::string> names;  // given with --metrics
  std::string set;                 // given with --set
};

/// A label that the user gives a run: "size=4096".
struct run_label {
  std::string name, value;
  friend bool operator==(run_label const&, run_label const&) = default;
};

struct settings {
  std::string output = "report%n";  // a pattern, see output_name.hpp
  bool force_overwrite = false;
  trace_set trace;
  capture_range range = capture_range::none;
  capture_range_end range_end;
  std::optional<range_pattern> nvtx_capture;
  duration_ns delay;
  duration_ns duration;  // 0: until the program ends
  std::optional<step_schedule> schedule;
  std::optional<range_pattern> step_range;  // each end of this range is a step
  graph_detail graph_trace = graph_detail::automatic;
  python_backtrace python_stacks = python_backtrace::automatic;
  native_backtrace native_stacks;
  thread_sampling sampling = thread_sampling::process;
  torch_recording pytorch = torch_recording::none;
  source_storing source = source_storing::own;
  std::vector<kernel_pattern> kernel_names;  // empty: all kernels
  /// Not with a filter, because a launch can only be computed from all of another one.
  bool computes_graphs() const noexcept {
    return graph_trace == graph_detail::automatic && kernel_names.empty();
  }
  std::uint64_t launch_skip = 0;
  std::uint64_t launch_count = 0;  // 0: no limit
  metrics_options metrics;
  given_metrics metrics_given;
  std::vector<run_label> labels;  // each name once
  bool share_cupti = true;
  bool stats = false;
  gpuprof::log_level log_level = gpuprof::log_level::info;
  std::uint32_t flush_interval_ms = 500;
  std::uint32_t flush_timeout_ms = 2000;
  std::uint32_t buffer_limit_mib = 256;
  std::uint64_t max_size_bytes = 0;  // limit for the capture file; 0: no limit
  // space to leave on its disk; empty: see disk_limits
  std::optional<std::uint64_t> min_free_bytes;
  std::optional<std::string> run_notes;  // not an option: see run_notes.hpp
  std::optional<process_rank> rank;      // not an option: set by the job's launcher
};

struct parsed_settings {
  settings values;
  std::vector<std::string> warnings;  // one line each, for log_warning()
};

/// Reads every GPUPROF_* in `environ`. A bad value or an unknown name gives one warning; a bad
/// value leaves the default. Throws only std::bad_alloc. Can be called on any thread while no other
/// thread changes the environment.
parsed_settings read_settings(char const* const* environ);

/// Returns one line for each combination of options that does not make sense; empty if there is
/// none.
std::vector<std::string> contradictions(settings const&);

}  // namespace gpuprof::guest
