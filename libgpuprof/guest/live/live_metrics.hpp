// SPDX-License-Identifier: Apache-2.0
// Counters and times of kernels and ranges while the program runs, in memory that does not grow.
#pragma once

#include "guest/live/launch_neighbors.hpp"
#include "guest/live/live_workloads.hpp"
#include "guest/live/recent_samples.hpp"
#include "host/analysis/roofline.hpp"
#include "model/record_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest {

using namespace host;  // the arithmetic of reports

struct achieved_snapshot {
  roofline_row all;                   // everything
  std::vector<roofline_row> ranges;   // "domain:name", longest GPU time first
  std::vector<roofline_row> kernels;  // mangled, longest first; "(other)" beyond the capacity
  std::uint64_t valid_readings = 0;
  discarded_samples discarded;           // readings without usable values, by reason
  std::uint64_t readings_forgotten = 0;  // readings that were dropped because too many waited
  std::uint64_t sampled_windows = 0;     // sampling windows that are included
  std::uint64_t windows_passed_over = 0;
  std::uint64_t ranges_left_out = 0;  // ranges without a line: too many different nestings
  bool has_peaks = false;
};

/// One thread adds, any thread takes snapshots. `roofline` and `launch_metrics` do the work, with
/// their rules. This class keeps means and sums by workload, and some data of the last seconds.
/// Samples are evaluated by the thread that takes a snapshot: most programs never take one, and the
/// adding thread has buffers to empty.
class live_metrics final : public record_sink {
 public:
  struct capacity {
    live_workloads::capacity workloads;
    launch_neighbors::capacity neighbors;
    recent_samples::capacity samples;
    std::size_t waiting_readings = 4096;
    std::size_t kept_windows = 8;  // limits since the last snapshot: count, and bytes
    std::size_t kept_window_bytes = std::size_t{16} << 20;
  };
  /// The adding thread calls `text` once for each name. The result must stay valid only until the
  /// next call.
  explicit live_metrics(std::function<std::string_view(name_id)> text)
      : live_metrics(std::move(text), capacity{}) {}
  live_metrics(std::function<std::string_view(name_id)> text, capacity limits);

  using record_sink::add;
  void add(device_record const& device) override;
  void add(peak_record const& peak) override;
  /// Adds what the machine code of a kernel contains. A later record of the same name replaces the
  /// earlier one.
  void add(kernel_code_record const& code) override;
  void add(metric_record const& metric) override;

  void add(kernel_shape const& shape) override;
  void add(std::span<kernel_record const> kernels) override;
  void add(graph_record const& graph) override;
  void add(copy_record const& copy) override {
    neighbors_.add_copy(copy);
    samples_.add(copy);
  }
  void add(memset_record const& fill) override {
    neighbors_.add_copy(fill);
    samples_.add(fill);
  }
  void add(range_begin const& begin) override;
  void add(range_end const& end) override;

  /// If this is called before the kernel arrives, its neighbors are kept however late the reading
  /// is. Otherwise only the reading of a recent launch can be judged.
  void expect_reading(correlation_id launch) override;
  void add(counter_reading const& reading) override;

  /// Launches are recorded from the start of a capture to its end.
  void add(window_record const& capture) override;
  /// Adds PM samples, see `recent_samples`.
  void add(sampling_results const& results) override {
    samples_.add(results.windows, results.samples);
  }
  /// Records of work were lost since the last call of judge().
  void lose_records() { samples_.lose_records(); }
  /// Samples are not used from now on: work without records exists.
  void leave_out_work() override;

  /// The caller has added all GPU work that was launched or began up to this moment. Judges
  /// readings and samples up to it, and counts the declared FLOP of ranges that ended by then.
  void judge(timestamp_ns complete_until);

  /// Also divides the sampling windows since the last snapshot, see `sampled_window`.
  achieved_snapshot snapshot();

 private:
  struct defined_metric {
    metric_record record;
    std::string name;
  };
  bool is_ready(counter_reading const& reading, timestamp_ns complete_until) const noexcept;
  void forget_old_expectations(timestamp_ns complete_until) noexcept;
  bool is_one_workload(kernel_record const& kernel);
  void note_read(correlation_id launch);
  void judge_some(std::span<counter_reading const> readings);
  void keep_window(timestamp_ns complete_until);
  void divide_windows();
  void forget(counter_reading const& reading);
  launch_metrics judge_of(std::span<read_launch_record const> launches) const;
  void note_slowed(std::span<read_launch_record const> launches, launch_metrics const& judge);

  std::function<std::string_view(name_id)> const text_;
  capacity const limits_;

  // Used by the adding thread only.
  launch_neighbors neighbors_;
  recent_samples samples_;
  std::vector<defined_metric> defined_;
  std::vector<counter_reading> waiting_;
  timestamp_ns last_forgot_;  // `complete_until` when expectations were last forgotten
  graph_id last_graph_{};     // the graph of the last query
  bool last_graph_was_read_ = false;

  std::mutex dividing_;  // for dividing windows; locked before mutex_, never by the adding thread

  std::mutex mutex_;  // guards everything below; held for one batch or one copy
  live_workloads workloads_;
  launch_metrics metrics_;  // only its means are used
  sampled_figures sampled_;
  std::deque<sampled_window> windows_;  // not divided yet
  bool leaves_out_work_ = false;
  std::uint64_t windows_divided_ = 0, windows_dropped_ = 0, windows_passed_over_ = 0;
  std::map<device_id, roofline_device> devices_;
  std::map<std::string, kernel_code_record, std::less<>> codes_;  // by the kernel's name
  std::uint64_t readings_forgotten_ = 0;
};

}  // namespace gpuprof::guest
