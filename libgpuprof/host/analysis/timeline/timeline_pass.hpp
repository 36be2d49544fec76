// SPDX-License-Identifier: Apache-2.0
// Takes all GPU work and calls of a capture in order of time, once, and adds up the ledger and
// what rules look at.
#pragma once

#include "host/analysis/selection.hpp"
#include "host/analysis/timeline/gap_table.hpp"
#include "host/analysis/timeline/launch_sequences.hpp"
#include "host/analysis/timeline/step_ranges.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "host/analysis/timeline/work_tables.hpp"

#include <functional>

namespace gpuprof::host {

/// Hears of each stretch in which a GPU did nothing or was held by this profiler, just as the
/// ledger counts it; of each GPU in order of time.
using idle_listener = std::function<void(device_id, time_bucket, timestamp_ns, timestamp_ns)>;

/// What the pass knows before it begins. All outlive it.
struct timeline_inputs {
  range_tree const* ranges = nullptr;
  step_ranges const* steps = nullptr;
  pace run;
  thread_index main_thread{};
  bool calls_recorded = false;
  /// When a tenth of the kernels had been launched; 0: not known.
  timestamp_ns tenth_launched{};
  std::function<bool(range_key const&)> loads_data;  // is it a range that loads data
  serialized_streams::fits fits_beside;              // two kernels have room on a GPU at once
  idle_listener on_idle;                             // may be empty
};

/// Calls of one name in ranges of one name.
struct call_sum {
  call_kind kind{};
  std::uint64_t count = 0, after_warm_up = 0;
  double ns = 0, after_warm_up_ns = 0;
};

/// The steps, together.
struct step_sum {
  std::uint64_t items = 0;  // pieces of GPU work
  double waiting_ns = 0;    // of the thread of the steps, inside calls that wait
};

inline std::uint64_t kernel_key(device_id device, std::uint32_t shape) noexcept {
  return (std::uint64_t{raw(device)} << 32) | shape;
}

class timeline_pass {
 public:
  explicit timeline_pass(timeline_inputs inputs);

  /// Of a capture window; what follows lies in it or is cut off. Ends the one before.
  void begin_window(timestamp_ns begin, timestamp_ns end);
  /// All in order of their start.
  void add_kernel(gpu_item const& kernel);
  void add_transfer(gpu_item item, transfer_key key, std::uint64_t bytes);
  void add_call(thread_index thread, host_call const& call, correlation_id correlation);
  /// In which the profiler read counters; launches wait meanwhile.
  void add_reading(device_id device, timestamp_ns opened, timestamp_ns closed);
  /// In which it kept launches waiting, to any GPU.
  void add_hold(timestamp_ns begin, timestamp_ns end);
  /// Of unified memory, by the driver.
  void add_migration(timestamp_ns begin, timestamp_ns end);
  void finish();

  time_ledger const& ledger() const noexcept { return ledger_; }
  gap_table const& gaps() const noexcept { return gaps_; }
  /// By kernel_key(): GPU and shape.
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
  /// Time of migrations, and of that: while no kernel ran.
  double migration_ns() const noexcept { return migration_ns_; }
  double migration_alone_ns() const noexcept {
    return std::max(0.0, migration_ns_ - migration_beside_ns_);
  }
  /// In calls that wait, of the thread that launched most.
  double waiting_of_launcher() const;
  std::uint64_t items() const noexcept { return items_; }
  step_sum const& steps() const noexcept { return steps_; }

 private:
  struct of_device {
    device_sweep sweep;
    gpu_item previous;  // in order of the starts
    bool has_previous = false;
    double windows_ns = 0;              // for which it has a ledger
    std::deque<time_stretch> readings;  // the recent ones, with what is added around them
  };
  struct of_thread {
    timestamp_ns last_launch;                      // the latest of what has started
    timestamp_ns last_small_read, small_read_end;  // a few bytes to the host: launched, copied
    std::uint64_t launches = 0;
    double waiting_ns = 0;  // in calls that wait
    timestamp_ns waited_until;
    /// Calls that waited, allocated, copied from pageable memory: their beginnings, the recent
    /// ones.
    std::deque<timestamp_ns> holds;
  };
  /// Of a gap, in order of time.
  struct gap_part {
    timestamp_ns begin, end;
    bool is_profilers = false;
  };
  void end_window();
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
  std::unordered_map<thread_index, of_thread> threads_;
  std::unordered_map<std::uint64_t, kernel_times> kernels_;
  std::vector<std::pair<transfer_key, transfer_times>> transfers_;
  std::map<transfer_key, std::uint32_t> transfer_index_;
  std::unordered_map<std::uint64_t, std::uint32_t> last_on_stream_;  // a transfer's line
  std::unordered_map<std::uint32_t, double> copying_calls_;          // by correlation: ns
  std::map<std::pair<name_id, std::optional<range_key>>, call_sum> calls_;
  std::unordered_map<std::uint64_t, timestamp_ns> last_launch_into_;  // by stream: of a kernel
  std::deque<time_stretch> profiler_holds_;                           // the recent ones
  std::vector<time_stretch> profiler_times_;                          // of one gap
  std::vector<gap_part> parts_;                                       // of one gap
  serialized_streams serialized_;
  std::vector<std::pair<timestamp_ns, timestamp_ns>> migrations_;  // that kernels may run beside
  double migration_ns_ = 0, migration_beside_ns_ = 0;
  step_sum steps_;
  std::uint64_t items_ = 0;
};

}  // namespace gpuprof::host
