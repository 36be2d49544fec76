// SPDX-License-Identifier: Apache-2.0
// Takes all GPU work and calls of a capture once, in order of time, and builds the ledger and the
// tables that rules use.
#pragma once

#include "host/analysis/selection.hpp"
#include "host/analysis/timeline/gap_table.hpp"
#include "host/analysis/timeline/launch_sequences.hpp"
#include "host/analysis/timeline/recent_map.hpp"
#include "host/analysis/timeline/step_ranges.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "host/analysis/timeline/work_tables.hpp"

#include <functional>
#include <span>

namespace gpuprof::host {

/// Called for each time in which a GPU was idle or held by this profiler, as counted in the ledger.
/// For each GPU in order of time.
using idle_listener = std::function<void(device_id, time_bucket, timestamp_ns, timestamp_ns)>;

/// Called for each idle time after warm-up that has a launching thread: that of the work that ended
/// it.
using gap_listener =
    std::function<void(device_id, time_bucket, thread_index, timestamp_ns, timestamp_ns)>;

/// Data that the pass needs from the start. The objects must outlive it.
struct timeline_inputs {
  range_tree const* ranges = nullptr;
  step_ranges const* steps = nullptr;
  pace run;
  thread_index main_thread{};
  bool calls_recorded = false;
  /// Time at which a tenth of the kernels had been launched; 0: not known.
  timestamp_ns tenth_launched{};
  std::function<bool(range_key const&)> loads_data;  // true for ranges that load data
  // true if two kernels fit on a GPU at the same time
  serialized_streams::fits fits_beside;
  idle_listener on_idle;     // may be empty
  gap_listener on_gap = {};  // may be empty
  /// Only these stretches of time count, in order and apart from each other; empty: all. What lies
  /// outside of them still says why a GPU idled inside, and the listener hears of all idle time.
  std::span<time_stretch const> phase = {};
  bool has_warm_up = true;  // false: it is left out already
  /// Steps of the whole run, if `steps` are those of the phase. Null: `steps`.
  step_ranges const* steps_of_run = nullptr;
};

/// The sum of calls of one name in ranges of one name.
struct call_sum {
  call_kind kind{};
  std::uint64_t count = 0, after_warm_up = 0;
  double ns = 0, after_warm_up_ns = 0;
};

/// The sum over all steps.
struct step_sum {
  std::uint64_t items = 0;  // pieces of GPU work
  double waiting_ns = 0;    // waiting calls of the thread that has the steps
};

inline std::uint64_t kernel_key(device_id device, std::uint32_t shape) noexcept {
  return (std::uint64_t{raw(device)} << 32) | shape;
}

class timeline_pass {
 public:
  explicit timeline_pass(timeline_inputs inputs);

  /// Starts a capture window and ends the one before. Later work must lie in it or is cut off.
  void begin_window(timestamp_ns begin, timestamp_ns end);
  /// All work and calls must come in order of start.
  void add_kernel(gpu_item const& kernel);
  void add_transfer(gpu_item item, transfer_key key, std::uint64_t bytes);
  void add_call(thread_index thread, host_call const& call, correlation_id correlation);
  /// A time in which the profiler read counters. Launches wait meanwhile.
  void add_reading(device_id device, timestamp_ns opened, timestamp_ns closed);
  /// A time in which the profiler held launches to any GPU.
  void add_hold(timestamp_ns begin, timestamp_ns end);
  /// A migration of unified memory by the driver.
  void add_migration(timestamp_ns begin, timestamp_ns end);
  void finish();

  /// True if what begins at this moment counts.
  bool counts(timestamp_ns moment) const noexcept;
  time_ledger const& ledger() const noexcept { return ledger_; }
  gap_table const& gaps() const noexcept { return gaps_; }
  /// Indexed by kernel_key(): GPU and shape.
  std::unordered_map<std::uint64_t, kernel_times> const& kernels() const noexcept {
    return kernels_;
  }
  std::vector<std::pair<transfer_key, transfer_times>> const& transfers() const noexcept {
    return transfers_;
  }
  std::map<std::pair<name_id, std::optional<range_key>>, call_sum> const& calls() const noexcept {
    return calls_;
  }
  std::vector<launch_sequence> sequences() const { return sequences_.found(); }
  std::map<device_id, serialized_sum> const& serialized() const noexcept {
    return serialized_.sums();
  }
  /// Time of migrations, in total and while no kernel ran.
  double migration_ns() const noexcept { return migration_ns_; }
  double migration_alone_ns() const noexcept {
    return std::max(0.0, migration_ns_ - migration_beside_ns_);
  }
  /// Time in waiting calls of the thread that launched most.
  double waiting_of_launcher() const;
  std::uint64_t items() const noexcept { return items_; }
  step_sum const& steps() const noexcept { return steps_; }

 private:
  struct held_time {
    time_bucket bucket{};
    double ns = 0;
    std::uint32_t range = no_range;
  };
  struct of_device {
    device_sweep sweep;
    gpu_item previous;  // in order of start
    bool has_previous = false;
    double windows_ns = 0;              // counted time of windows in its ledger
    bool has_counted_work = false;      // only then it is in the ledger
    std::vector<held_time> held;        // for the ledger, until there is work
    std::deque<time_stretch> readings;  // recent ones, with the added time around them
  };
  struct of_thread {
    timestamp_ns last_launch;  // latest launch of started work
    // last copy of a few bytes to the host: its launch, its end
    timestamp_ns last_small_read, small_read_end;
    std::uint64_t launches = 0;
    double waiting_ns = 0;  // in waiting calls
    timestamp_ns waited_until;
    /// Start times of recent calls that waited, allocated or copied from pageable memory.
    std::deque<timestamp_ns> holds;
  };
  /// The parts of a gap, in order of time.
  struct gap_part {
    timestamp_ns begin, end;
    bool is_profilers = false;
  };
  void end_window();
  double counted(timestamp_ns from, timestamp_ns to) const noexcept;
  void add_to_ledger(device_id id, time_bucket bucket, double ns, std::uint32_t range);
  void add(gpu_item const& item);
  void note_hold(thread_index thread, timestamp_ns begin);
  void note_wait(thread_index thread, timestamp_ns begin, timestamp_ns end, std::uint32_t range);
  void note_waiting_copy(gpu_item const& copy);
  bool comes_after_hold(gpu_item const& kernel);
  bool is_warm_up(gpu_item const& item) const noexcept;
  of_device& device(device_id id);
  void settle(device_id id, busy_stretch const& stretch);
  void settle(device_id id, idle_gap const& gap);
  void settle(device_id id, ended_item const& ended);
  void add_idle(device_id id, time_bucket bucket, timestamp_ns begin, timestamp_ns end,
                std::uint32_t range);
  void find_profiler_times(of_device const& of, idle_gap const& gap);
  void cut(of_device const& of, idle_gap const& gap);
  void blame(device_id id, timestamp_ns begin, timestamp_ns end, gpu_item const& after,
             gap_piece piece);
  launching_thread thread_of(gpu_item const& after, timestamp_ns begin) const;
  bool reads_result(gpu_item const& after, gap_cause const& cause) const;
  bool is_loading(std::uint32_t range) const;
  bool is_among_steps(timestamp_ns moment) const;
  step_ranges const& steps_of_run() const noexcept {
    return in_.steps_of_run != nullptr ? *in_.steps_of_run : *in_.steps;
  }
  void note_transfer(gpu_item& item, transfer_key key, std::uint64_t bytes);
  void note_followed(of_device& device, gpu_item const& next);
  std::optional<range_key> key_of_range(std::uint32_t range) const;

  timeline_inputs in_;
  timestamp_ns begin_, end_, warm_until_;
  double windows_ns_ = 0;
  std::vector<std::pair<timestamp_ns, timestamp_ns>> past_windows_;
  thread_ranges thread_ranges_;
  time_ledger ledger_;
  gap_table gaps_;
  recent_calls recent_;
  launch_sequences sequences_;
  std::map<device_id, of_device> devices_;
  recent_map<thread_index, of_thread> threads_;
  std::unordered_map<std::uint64_t, kernel_times> kernels_;
  std::vector<std::pair<transfer_key, transfer_times>> transfers_;
  std::map<transfer_key, std::uint32_t> transfer_index_;
  std::unordered_map<std::uint64_t, std::uint32_t> last_on_stream_;  // line of the last transfer
  std::unordered_map<std::uint32_t, double> copying_calls_;          // ns by correlation id
  std::map<std::pair<name_id, std::optional<range_key>>, call_sum> calls_;
  // last kernel launch by stream
  recent_map<std::uint64_t, timestamp_ns> last_launch_into_;
  std::deque<time_stretch> profiler_holds_;   // only recent ones
  std::vector<time_stretch> profiler_times_;  // of the current gap
  std::vector<gap_part> parts_;               // of the current gap
  serialized_streams serialized_;
  // kernels may run at the same time
  std::vector<std::pair<timestamp_ns, timestamp_ns>> migrations_;
  double migration_ns_ = 0, migration_beside_ns_ = 0;
  step_sum steps_;
  std::uint64_t items_ = 0;
};

}  // namespace gpuprof::host
