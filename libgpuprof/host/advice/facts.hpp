// SPDX-License-Identifier: Apache-2.0
// The summed data of a run that rules look at. Times are in nanoseconds within the capture windows,
// summed over all GPUs unless a comment says otherwise.
#pragma once

#include "host/advice/late_ranks.hpp"
#include "host/advice/work_groups.hpp"
#include "host/analysis/idle_causes.hpp"
#include "host/analysis/kernel_kind.hpp"
#include "host/analysis/roofline_row.hpp"
#include "host/analysis/timeline/host_calls.hpp"
#include "host/analysis/timeline/launch_pace.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "model/records.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::advice {

/// The kinds of data that a capture may hold. A rule without its data is "not looked at", never
/// "passed".
enum class data : std::uint16_t {
  kernels = 1,           // or copies: GPU work
  blocking_calls = 2,    // API calls that wait, allocate or load
  all_calls = 4,         // --trace cuda-api
  ranges = 8,            // NVTX
  steps = 16,            // a range that repeats
  counters = 32,         // DRAM bytes, tensor cycles and others, as readings or samples
  peaks = 64,            // measured on this GPU
  explain = 128,         // --set explain
  unified_memory = 256,  // --trace um
  several_ranks = 512,
  clocks = 1024,      // SM clocks of kernels
  streams = 2048,     // the timeline was searched for serialized streams
  peer_peaks = 4096,  // a peer copy was measured on these GPUs
  declared = 8192,    // `declared_flop` of kernels
};
class data_set {
 public:
  constexpr data_set() = default;
  constexpr data_set(data one) : bits_(static_cast<std::uint16_t>(one)) {}  // NOLINT
  constexpr data_set operator|(data_set other) const { return data_set(bits_ | other.bits_); }
  constexpr bool has(data_set wanted) const { return (bits_ & wanted.bits_) == wanted.bits_; }
  constexpr data_set without(data_set there) const { return data_set(bits_ & ~there.bits_); }
  constexpr bool empty() const { return bits_ == 0; }

 private:
  constexpr explicit data_set(int bits) : bits_(static_cast<std::uint16_t>(bits)) {}
  std::uint16_t bits_ = 0;
};
constexpr data_set operator|(data a, data b) {
  return data_set(a) | data_set(b);
}

/// Launches of one signature (kernel, grid, block, shared memory, arguments) on one GPU.
struct kernel_facts {
  std::string name;   // demangled, without arguments
  std::string range;  // range that launched most of its time; empty: none
  kernel_work work;   // told by its name, else by its machine code
  kernel_shape shape{};
  device_id device{};
  bool is_communication = false;
  std::uint64_t launches = 0;
  double total_ns = 0;
  double alone_ns = 0;  // while no other kernel ran on this GPU
  /// Part of `total_ns`: launches whose successor was already queued when they were about to end,
  /// so that a shorter kernel lets the successor start earlier. The other launches hide the gain of
  /// a shorter kernel.
  double followed_ns = 0;
  /// FLOP of one launch, declared by ranges that contain only these launches.
  std::optional<double> declared_flop;
  roofline_row figures;                   // by signature; empty if nothing was counted
  std::map<std::string, double> metrics;  // CUPTI's name -> mean per launch, of --set explain
  std::optional<double> metric(std::string const& metric_name) const {
    auto const at = metrics.find(metric_name);
    return at == metrics.end() ? std::nullopt : std::optional(at->second);
  }
};

/// A group of copies and fills that have all of these properties in common.
struct copy_facts {
  copy_kind kind{};
  memory_kind source{}, destination{};
  bool is_fill = false;
  bool asynchronous = false;
  bool is_small = false;  // below small_copy_bytes
  /// True before the second step began or, without steps, in the first tenth of the window. Such
  /// copies have lines of their own, which no rule sees.
  bool in_warm_up = false;
  device_id device{};
  std::string range;  // range that launched most of them
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  double total_ns = 0;
  double alone_ns = 0;  // while nothing else ran on this GPU
  /// The time of all copies at the pace of the fastest quarter. Anything longer was slowed by
  /// something else, such as this profiler. 0: not known.
  double quick_ns = 0;
  double blocked_ns = 0;       // time the launching thread was inside the copying call
  std::uint64_t in_a_row = 0;  // copies that directly follow one of the same line
};
inline constexpr std::uint64_t small_copy_bytes = 64 << 10;

/// Gaps that share one cause, one call and one range.
struct gap_facts {
  time_bucket cause{};
  std::string call;  // call during or after which the GPU idled; empty: none
  call_kind kind{};
  bool whole_device = false;  // the call waits for all streams
  bool reads_result = false;  // after a copy of at most 64 bytes to the host: `.item()`
  bool in_warm_up = false;    // as in copy_facts
  bool before_graph = false;  // a graph launch ended the gap
  std::string range;
  device_id device{};
  std::uint64_t count = 0;
  double idle_ns = 0;
  double sure_ns = 0;  // saved without the wait or call, if nothing else changes
};

/// All calls of one name in ranges of one name.
struct call_facts {
  std::string name;
  call_kind kind{};
  std::string range;
  std::uint64_t count = 0;
  std::uint64_t after_warm_up = 0;  // calls after the first tenth of the window
  double total_ns = 0;
  double after_warm_up_ns = 0;
};

/// A sequence of launches that repeats in the same order.
struct sequence_facts {
  std::vector<std::string> kernels;  // the first few kernels
  std::size_t length = 0;
  std::uint64_t repetitions = 0;
  std::string range;
  double run_ns = 0;           // from the first start to the last end, all repetitions
  double busy_ns = 0;          // busy part of `run_ns`
  bool is_whole_step = false;  // all launches of a step, as most steps make them
  double between_ns = 0;       // idle time between repetitions that directly follow each other
  bool has_waits = false;      // a wait, an allocation or a pageable copy happens inside
};

/// Launched work of one stream that waited while work of another stream ran, because a piece of
/// work of the legacy default stream was launched between them.
struct serialized_facts {
  device_id device{};
  std::string range;  // range that launched most of the waiting work
  std::uint64_t count = 0;
  // from its launch, or from the start of the other work if that is later, to its own start
  double waited_ns = 0;
  /// Part of `waited_ns` that running both side by side saves: the shorter of the two pieces of
  /// work, if the SMs have room for both (blocks of both <= what the SMs hold).
  double overlap_ns = 0;
};

/// A rank that the others wait for in their collectives; see late_ranks.hpp.
struct rank_facts {
  std::string rank;  // "3"
  std::string host;
  late_rank late;
  double all_steps = 0;  // that the replayed ones stand for
};

/// Communication kernels of one name, while other kernels ran and while none did.
struct communication_facts {
  std::string name;
  std::uint64_t count = 0;
  double total_ns = 0, alone_ns = 0;
  // of launches that ran mostly beside other kernels, mostly without
  double mean_ns_beside = 0, mean_ns_alone = 0;
  /// Bytes that this GPU moved over the link. 0: not known (NCCL does not report them).
  double bytes = 0;
};

/// Without steps `period_ns` is empty and the other members cover the whole window. With several
/// GPUs `busy_ns` and `items` are sums; there is only one launching thread.
struct step_facts {
  std::string name;         // "step"; empty: no steps, the window counts as one
  std::uint32_t first = 0;  // number of the first step, counted in the whole run
  /// Time from the start of each step to the start of the next, without the time in which this
  /// profiler kept the GPUs idle.
  std::vector<double> period_ns;
  double launching_thread_ns = 0;  // in all steps: time outside of waiting calls
  double busy_ns = 0;              // in all steps: time in which some GPU work ran
  std::uint64_t items = 0;         // pieces of GPU work in all steps
  /// Time in all steps that the launching thread spent in ranges that load data. 0: no such ranges.
  double loading_ns = 0;
  /// GPU time of each step, summed over all GPUs, without the time in which this profiler kept them
  /// idle. Empty: not known.
  std::vector<double> gpu_ns;
  std::vector<double> busy_of_step_ns;  // time in which some GPU work ran; empty: not known
  /// Mean times of a slow step (both its period and its GPU time exceed 1.2 times the median) and
  /// of any other step.
  bucket_times slow, usual;
};

/// Counts what limited the clocks of a GPU, over the moments at which NVML was asked while the GPU
/// worked.
struct clock_limits {
  std::size_t moments = 0;  // 0: nothing is known
  std::size_t by_power = 0, by_heat = 0;
};

struct device_facts {
  device_id device{};
  std::string name;  // "NVIDIA H200"
  device_record record{};
  bucket_times ledger;
  double greatest_clock = 0;  // Hz; 0: not known
  clock_limits limits;
  std::function<std::optional<double>(std::string_view)> peak;  // by test, in its unit: B/s, s
};

/// What the launching thread did while a GPU was idle, as often as it was looked at.
struct idle_look {
  time_bucket bucket{};
  idle_cause cause{};
  bool has_python = false, loads_data = false;
  std::string words;    // "runs Python"
  std::string where;    // "train.py:61"; empty: not known
  std::string held_by;  // the same of the thread that held the GIL
  double looks = 0;
  double in_module = 0;  // of them: inside of a torch.nn module
};

struct run_facts {
  double window_ns = 0;  // of one GPU; the same for all used GPUs
  data_set there;
  data_set impossible;  // no version can record it on these GPUs
  pace run;
  step_facts steps;
  std::vector<device_facts> devices;  // the GPUs that did something
  std::vector<kernel_facts> kernels;  // most time first
  std::vector<copy_facts> copies;
  std::vector<gap_facts> gaps;               // most idle time first
  std::vector<idle_look> looks;              // most looks first
  std::vector<idle_look> looks_at_children;  // at the main threads of child processes
  std::size_t children = 0;                  // that were looked at
  std::vector<call_facts> calls;
  std::vector<sequence_facts> sequences;
  std::vector<work_group> groups;    // of the steps that are replayed; most time first
  std::vector<std::string> growing;  // kernels that take longer in the later recorded steps
  double steps_of_groups = 1;        // recorded steps that their sums are over
  double all_steps_of_groups = 1;    // steps of the run that these stand for
  bool are_stretches = false;        // there are no steps: these are stretches of the run
  std::vector<communication_facts> communication;
  std::vector<serialized_facts> serialized;
  std::vector<rank_facts> ranks;
  /// Time that this profiler adds to each launching call: the run's fast launches minus the
  /// measured launch_throughput. The default was measured on the machine of the first tests.
  double own_ns_a_launch = 600;
  double migrated_bytes = 0, migration_ns = 0, migration_alone_ns = 0;  // of unified memory
  std::uint64_t page_faults = 0;

  double all_windows_ns() const noexcept { return window_ns * static_cast<double>(devices.size()); }
  device_facts const* device(device_id id) const noexcept {
    for (auto const& one : devices)
      if (one.device == id) return &one;
    return nullptr;
  }
};

}  // namespace gpuprof::host::advice
