// SPDX-License-Identifier: Apache-2.0
// What kernels and ranges achieve while the program runs, from counters read around launches, in
// memory that does not grow.
#pragma once

#include "guest/live/achieved_lines.hpp"
#include "guest/live/live_totals.hpp"
#include "guest/live/read_launches.hpp"
#include "guest/live/sampled_rates.hpp"
#include "model/record_sink.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuprof::guest {

struct achieved_snapshot {
  achieved_line all;
  std::vector<achieved_line> ranges;   // "domain:name", longest GPU time first
  std::vector<achieved_line> kernels;  // mangled, longest first; "(other)" beyond the capacity
  std::optional<sampled_rates> sampled;
  std::uint64_t valid_readings = 0;
  std::uint64_t unused_readings = 0;  // other work ran beside them, or records are missing
  bool has_peaks = false;
};

/// One thread adds, any thread takes snapshots. Adds after `totals` has added the same work.
class live_metrics final : public record_sink {
 public:
  struct capacity {
    read_launches::capacity launches;
    std::size_t waiting_readings = 4096;
    std::size_t workloads = 4096;  // with readings
  };
  /// `text` is asked by the adding thread; its answer need only hold until it is asked again.
  /// `totals` tells workloads apart.
  live_metrics(std::function<std::string_view(name_id)> text, live_totals& totals)
      : live_metrics(std::move(text), totals, capacity{}) {}
  live_metrics(std::function<std::string_view(name_id)> text, live_totals& totals, capacity limits);

  using record_sink::add;
  void add(device_record const& device) override;
  void add(peak_record const& peak) override;
  void add(kernel_code_record const& code) override;
  void add(metric_record const& metric) override;
  void add(kernel_shape const& shape) override;
  void add(std::span<kernel_record const> kernels) override;
  void add(graph_record const& graph) override;
  void add(copy_record const& copy) override { launches_.add_copy(copy); }
  void add(memset_record const& fill) override { launches_.add_copy(fill); }
  void expect_reading(correlation_id launch) override;
  void add(counter_reading const& reading) override;
  void add(sampling_results const& results) override;

  /// All GPU work that began up to this moment has been added, and all that was launched: readings
  /// up to it are judged, and what ranges declared that are over by then counts.
  void judge(timestamp_ns complete_until);

  achieved_snapshot snapshot();

 private:
  struct read_metric {
    std::size_t place = 0;  // in counted_launch
    bool is_slow = false;   // its kernels are rewritten to count it
  };
  void add_launch(kernel_record const& launch);
  bool is_ready(counter_reading const& reading, timestamp_ns complete_until) noexcept;
  void judge(counter_reading const& reading);
  std::optional<workload_id> undisturbed_workload(counter_reading const& reading);
  void note_read(counter_reading const& reading);
  void forget_old_expectations(timestamp_ns complete_until);
  bool is_slow(read_launch_record const& launch) const {
    return slow_groups_.contains({launch.device, launch.group});
  }

  std::function<std::string_view(name_id)> const text_;
  live_totals& totals_;
  capacity const limits_;

  // The adding thread's.
  read_launches launches_;
  std::unordered_map<std::uint32_t, read_metric> read_metrics_;
  std::set<std::pair<device_id, std::uint16_t>> slow_groups_;
  std::set<shape_id> of_any_geometry_;
  std::vector<counter_reading> waiting_;
  graph_id last_graph_{};  // asked about last
  bool last_counts_as_one_ = false;
  timestamp_ns last_forgot_;  // expectations, having been told that it is complete until then

  std::mutex mutex_;  // guards all below; held for one reading or one copy
  counted_launches counted_;
  sampled_sums sampled_;
  std::uint64_t valid_readings_ = 0, unused_readings_ = 0;
};

}  // namespace gpuprof::guest
