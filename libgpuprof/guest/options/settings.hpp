// SPDX-License-Identifier: Apache-2.0
// What the user asked for, as typed values.
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

/// What is written down.
struct trace_set {
  bool cuda = true;          // kernels, copies, memsets, graphs
  bool nvtx = true;          // ranges and marks
  bool blocking = true;      // calls of the driver that wait, allocate, load
  bool cuda_api = false;     // all calls of the runtime and driver API, those included
  bool cuda_memory = false;  // device memory allocated and released
  bool sync = false;         // synchronization calls
  bool um = false;           // unified-memory counters
  friend bool operator==(trace_set const&, trace_set const&) = default;
};

enum class capture_range { none, cuda_profiler_api, nvtx };

enum class range_end_action {
  none,            // the end of the range is ignored
  stop,            // the capture ends, the program goes on
  stop_shutdown,   // the capture ends, then the program is asked to end (SIGTERM)
  repeat,          // each range is a capture
  repeat_shutdown  // as repeat; after the last one the program is asked to end
};

struct capture_range_end {
  range_end_action action = range_end_action::stop;
  std::uint32_t count = 0;  // captures to make when repeating; 0: no limit
  friend bool operator==(capture_range_end const&, capture_range_end const&) = default;
};

/// An NVTX range to look for. `name@domain`; `name` alone means the default domain, `name@*` any.
struct range_pattern {
  std::string name;
  std::string domain;  // empty: the default domain
  bool any_domain = false;
  friend bool operator==(range_pattern const&, range_pattern const&) = default;
};

/// PyTorch's profiler schedule, counted in steps. warmup steps are traced and thrown away.
struct step_schedule {
  std::uint32_t wait = 0, warmup = 0, active = 1, repeat = 1, skip_first = 0;  // repeat 0: for ever
  friend bool operator==(step_schedule const&, step_schedule const&) = default;
};

enum class graph_detail { graph, node };

enum class metrics_mode { none, automatic, sampled, exact };

/// Kernels that wait for other GPUs, as --metrics-skip takes them: NCCL's, NVSHMEM's, MSCCL++'s and
/// DeepEP's, the all-reduces of vLLM, SGLang, TensorRT-LLM and FlashInfer (one-shot, two-shot,
/// Lamport), PyTorch's symmetric memory, and whatever is named after a collective.
inline constexpr std::string_view collectives_to_skip =
    "regex:nccl|nvshmem|mscclpp|deep_ep|cross_device_reduce|all_?reduce|all_?gather|"
    "reduce_?scatter|all_?to_?all|moea2a|multimem|symm(etric)?_?mem|userbuffers|lamport";
std::vector<kernel_pattern> kernels_of_collectives();

/// Which hardware counters are read, and at what price.
struct metrics_options {
  metrics_mode mode = metrics_mode::none;
  std::vector<std::string> words;        // sets and metrics as given; empty: the set roofline
  double budget_percent = 1;             // of the run time
  std::optional<std::uint64_t> once_ns;  // and once a process; nothing: as the metrics need
  std::uint64_t interval_ns = 20'000;    // of sampling in time
  std::vector<kernel_pattern> skip = kernels_of_collectives();  // never counted
  friend bool operator==(metrics_options const&, metrics_options const&) = default;

  /// Whoever asks for the set `explain` asks why kernels of this run are slow, however short it is.
  bool explains() const;
  std::uint64_t may_cost_once_ns() const;
};

/// --metrics and --set as they were given, in whichever order: metrics_options's mode and words
/// come from both.
struct given_metrics {
  std::optional<metrics_mode> mode;
  std::vector<std::string> names;  // of --metrics
  std::string set;                 // of --set
};

/// What the user says of a run: "size=4096".
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
  graph_detail graph_trace = graph_detail::node;
  std::vector<kernel_pattern> kernel_names;  // empty: all kernels
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
  std::uint64_t max_size_bytes = 0;             // of the capture file; 0: no limit
  std::optional<std::uint64_t> min_free_bytes;  // left on its disk; nothing: see disk_limits
  std::optional<std::string> run_notes;         // no option: see run_notes.hpp
  std::optional<process_rank> rank;             // no option: as the launcher of the job says
};

struct parsed_settings {
  settings values;
  std::vector<std::string> warnings;  // one line each, for log_warning()
};

/// Reads every GPUPROF_* of `environ`. A bad value leaves the default and one warning; so does a
/// name that is not ours. Throws only std::bad_alloc; any thread while nobody changes the
/// environment.
parsed_settings read_settings(char const* const* environ);

/// Choices that make no sense together, one line each; empty when all is well.
std::vector<std::string> contradictions(settings const&);

}  // namespace gpuprof::guest
