// SPDX-License-Identifier: Apache-2.0
// All that rules look at: a run, added up. Times are nanoseconds of the capture windows, of all
// GPUs together where nothing else is said.
#pragma once

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

/// What a capture holds. A rule that needs what is not there is "not looked at", never "passed".
enum class data : std::uint16_t {
  kernels = 1,           // or copies: GPU work
  blocking_calls = 2,    // API calls that wait, allocate, load
  all_calls = 4,         // --trace cuda-api
  ranges = 8,            // NVTX
  steps = 16,            // a range that repeats
  counters = 32,         // DRAM bytes, tensor cycles, ... around launches or in time
  peaks = 64,            // measured on this GPU
  explain = 128,         // --set explain
  unified_memory = 256,  // --trace um
  several_ranks = 512,
  clocks = 1024,      // SM clocks of kernels
  streams = 2048,     // `serialized` was looked for
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
  std::string range;  // in which most of its time was launched; empty: none
  kernel_shape shape{};
  device_id device{};
  bool is_communication = false;
  std::uint64_t launches = 0;
  double total_ns = 0;
  double alone_ns = 0;  // while no other kernel ran on this GPU
  /// Of total_ns: of launches whose successor was already queued when they began to end, so that
  /// a shorter kernel means an earlier successor. The rest of its time is hidden by launches.
  double followed_ns = 0;
  /// Of a launch, as ranges say that hold nothing but these launches.
  std::optional<double> declared_flop;
  roofline_row figures;                   // by signature; empty figures where nothing was counted
  std::map<std::string, double> metrics;  // CUPTI's name -> mean per launch, of --set explain
  std::optional<double> metric(std::string const& metric_name) const {
    auto const at = metrics.find(metric_name);
    return at == metrics.end() ? std::nullopt : std::optional(at->second);
  }
};

/// Copies and fills that have all of this in common.
struct copy_facts {
  copy_kind kind{};
  memory_kind source{}, destination{};
  bool is_fill = false;
  bool asynchronous = false;
  bool is_small = false;  // below small_copy_bytes
  /// Before the second step began; without steps: in the first tenth of the window. Such lines are
  /// apart from the others, and no rule sees them.
  bool in_warm_up = false;
  device_id device{};
  std::string range;  // in which most were launched
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  double total_ns = 0;
  double alone_ns = 0;  // while nothing else ran on this GPU
  /// All of them at the pace of the quicker quarter: what takes longer was held by something else,
  /// as this profiler. 0: not known.
  double quick_ns = 0;
  double blocked_ns = 0;       // time the launching thread was inside the copying call
  std::uint64_t in_a_row = 0;  // of them: right behind one of the same line, nothing between
};
inline constexpr std::uint64_t small_copy_bytes = 64 << 10;

/// Gaps with one cause, one call and one range in common.
struct gap_facts {
  time_bucket cause{};
  std::string call;  // in or behind which the GPU idled; empty: none
  call_kind kind{};
  bool whole_device = false;  // a call that waits for all streams
  bool reads_result = false;  // behind a copy of at most 64 bytes to the host: `.item()`
  bool in_warm_up = false;    // as in copy_facts
  bool before_graph = false;  // what came then was a graph
  std::string range;
  device_id device{};
  std::uint64_t count = 0;
  double idle_ns = 0;
  double sure_ns = 0;  // saved without the wait or call, if nothing else changes
};

/// Calls of one name, in ranges of one name.
struct call_facts {
  std::string name;
  call_kind kind{};
  std::string range;
  std::uint64_t count = 0;
  std::uint64_t after_warm_up = 0;  // of these: later than the first tenth of the window
  double total_ns = 0;
  double after_warm_up_ns = 0;
};

/// Kinds of launches that repeat in one order.
struct sequence_facts {
  std::vector<std::string> kernels;  // the first few of them
  std::size_t length = 0;
  std::uint64_t repetitions = 0;
  std::string range;
  double run_ns = 0;       // from the first start to the last end, all repetitions
  double busy_ns = 0;      // of this
  double between_ns = 0;   // idle between two repetitions with nothing else in between
  bool has_waits = false;  // a wait, an allocation or a pageable copy lies inside
};

/// Work of one stream that waited, launched, while work of another ran, and a piece of work of the
/// legacy default stream came between the two in order of launch.
struct serialized_facts {
  device_id device{};
  std::string range;  // in which most of the waiting work was launched
  std::uint64_t count = 0;
  double waited_ns = 0;  // from when it was launched, or the GPU began the other, to its own start
  /// Of that: the shorter of the two pieces of work, where the SMs have room for both at once
  /// (blocks of both <= what the SMs hold). It is what running them side by side saves.
  double overlap_ns = 0;
};

/// How late one rank comes to its collectives. Clocks of the ranks are aligned.
struct rank_facts {
  std::uint32_t rank = 0;
  std::string host;
  std::uint64_t collectives = 0;  // in which it took part, warm-up left out
  std::uint64_t last_in = 0;      // of those: it started after all others
  /// Over the steps of the run: in how many it was last in some collective by 2 % of the step or
  /// more, start of it minus median start of the ranks.
  std::uint64_t steps = 0, late_steps = 0;
  double late_ns = 0;  // sum over `last_in` of its start minus the median start
};

/// Communication of one kernel name, beside other kernels and alone.
struct communication_facts {
  std::string name;
  std::uint64_t count = 0;
  double total_ns = 0, alone_ns = 0;
  double mean_ns_beside = 0, mean_ns_alone = 0;  // of launches mostly beside others, mostly alone
  /// Over the link, of this GPU; 0: not known (NCCL tells none).
  double bytes = 0;
};

/// Without steps `period_ns` is empty and the other figures are of the whole window. Of several
/// GPUs `busy_ns` and `items` are sums, the launching thread is one.
struct step_facts {
  std::string name;  // "step"; empty: there are none, the window is one
  /// From the beginning of one to that of the next, without the time in which this profiler
  /// kept the GPUs idle.
  std::vector<double> period_ns;
  double launching_thread_ns = 0;  // of all steps: the thread was not inside a waiting call
  double busy_ns = 0;              // of all steps: some GPU work ran
  std::uint64_t items = 0;         // pieces of GPU work in all steps
  /// Of all steps: the launching thread was in ranges that load data; 0: there are none.
  double loading_ns = 0;
  /// By step, of all GPUs, without that time; empty: not known.
  std::vector<double> gpu_ns;
  /// Means of one step: of those that take longer than 1.2 times the median by both, of the others.
  bucket_times slow, usual;
};

/// What held the clocks of a GPU down, of the moments at which NVML was asked while it worked.
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

struct run_facts {
  double window_ns = 0;  // of one GPU; all used ones have the same
  data_set there;
  data_set impossible;  // no version can record it on these GPUs
  pace run;
  step_facts steps;
  std::vector<device_facts> devices;  // those that did something
  std::vector<kernel_facts> kernels;  // most time first
  std::vector<copy_facts> copies;
  std::vector<gap_facts> gaps;  // most idle time first
  std::vector<call_facts> calls;
  std::vector<sequence_facts> sequences;
  std::vector<communication_facts> communication;
  std::vector<serialized_facts> serialized;
  std::vector<rank_facts> ranks;
  /// That this profiler adds to a launching call: what the run's quick launches take beyond the
  /// measured launch_throughput; where that was not measured, as on the machine of the first tests.
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
