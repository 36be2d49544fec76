// SPDX-License-Identifier: Apache-2.0
// What kernels and ranges achieve while the program runs: counters and times, in memory that does
// not grow.
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
  discarded_samples discarded;           // readings that tell nothing, by reason
  std::uint64_t readings_forgotten = 0;  // too many came at once to be judged
  std::uint64_t sampled_windows = 0;     // whose samples are in it
  std::uint64_t windows_passed_over = 0;
  std::uint64_t ranges_left_out = 0;  // too many different nestings: they have no line of their own
  bool has_peaks = false;
};

/// One thread adds, any thread takes snapshots. The rules are those of roofline and launch_metrics,
/// which do the work; what is kept are means and sums by workload, and little of the last seconds.
/// What samples in time say is worked out by whoever takes a snapshot: most programs never do, and
/// the thread that adds has buffers to empty.
class live_metrics final : public record_sink {
 public:
  struct capacity {
    live_workloads::capacity workloads;
    launch_neighbors::capacity neighbors;
    recent_samples::capacity samples;
    std::size_t waiting_readings = 4096;
    std::size_t kept_windows = 8;  // since the last snapshot, and so many bytes of them
    std::size_t kept_window_bytes = std::size_t{16} << 20;
  };
  /// `text` is asked by the adding thread, once for each name; its answer need only hold until it
  /// is asked again.
  explicit live_metrics(std::function<std::string_view(name_id)> text)
      : live_metrics(std::move(text), capacity{}) {}
  live_metrics(std::function<std::string_view(name_id)> text, capacity limits);

  using record_sink::add;
  void add(device_record const& device) override;
  void add(peak_record const& peak) override;
  /// What the machine code of a kernel holds; a later one of the same name replaces the earlier.
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

  /// Saying so before its kernel comes keeps its neighbors however late the reading is; unsaid,
  /// only that of a recent launch can be judged.
  void expect_reading(correlation_id launch) override;
  void add(counter_reading const& reading) override;

  /// Launches are recorded from when it opens until it closes.
  void add(window_record const& capture) override;
  /// Samples in time, see recent_samples.
  void add(sampling_results const& results) override {
    samples_.add(results.windows, results.samples);
  }
  /// Records of work were lost since the last call of judge().
  void lose_records() { samples_.lose_records(); }
  /// Samples in time say nothing any more.
  void leave_out_work() override;

  /// All GPU work that began up to this moment has been added, and all that was launched: readings
  /// and samples up to it are judged, and what ranges declared that are over by then counts.
  void judge(timestamp_ns complete_until);

  /// Divides the windows since the last one, see sampled_window.
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

  // The adding thread's.
  launch_neighbors neighbors_;
  recent_samples samples_;
  std::vector<defined_metric> defined_;
  std::vector<counter_reading> waiting_;
  timestamp_ns last_forgot_;  // expectations, having been told that it is complete until then
  graph_id last_graph_{};     // asked about last
  bool last_graph_was_read_ = false;

  std::mutex dividing_;  // whoever divides windows, before mutex_; never the adding thread

  std::mutex mutex_;  // guards all below; held for one batch or one copy
  live_workloads workloads_;
  launch_metrics metrics_;  // its means alone
  sampled_figures sampled_;
  std::deque<sampled_window> windows_;  // not divided yet
  bool leaves_out_work_ = false;
  std::uint64_t windows_divided_ = 0, windows_dropped_ = 0, windows_passed_over_ = 0;
  std::map<device_id, roofline_device> devices_;
  std::map<std::string, kernel_code_record, std::less<>> codes_;  // by the kernel's name
  std::uint64_t readings_forgotten_ = 0;
};

}  // namespace gpuprof::guest
