// SPDX-License-Identifier: Apache-2.0
// Joins the hardware counters of sampled launches to the kernels that ran in them.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "model/gpu_work.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// Mean and sample standard deviation. Does not store the values.
class running_mean {
 public:
  void add(double value) noexcept;
  /// Adds all values of the other one.
  void add(running_mean const& other) noexcept;
  std::uint64_t count() const noexcept { return count_; }
  double mean() const noexcept { return mean_; }
  double deviation() const noexcept;  // divides by n - 1; 0 for a single value

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

/// Counts discarded samples by reason. A sample with several reasons counts under the first one.
struct discarded_samples {
  std::uint64_t without_kernel = 0;  // the launch has no kernel record in the capture
  std::uint64_t beside_kernels = 0;  // another kernel or graph ran on the device at the same time
  // a copy or fill ran at the same time, and its bytes were counted too
  std::uint64_t beside_copies = 0;
  std::uint64_t mixed = 0;  // the launches were of different workloads
  std::uint64_t all() const noexcept {
    return without_kernel + beside_kernels + beside_copies + mixed;
  }
  void add(discarded_samples const& more) noexcept {
    without_kernel += more.without_kernel;
    beside_kernels += more.beside_kernels;
    beside_copies += more.beside_copies;
    mixed += more.mixed;
  }
};

enum class sampling : std::uint8_t {
  none,    // no counters were read around this launch
  plain,   // counters were read around the unchanged kernel
  slowed,  // the kernel was rewritten to count, and took longer
};

/// A sample is the result of one reading: of one launch, or of several with one pass each.
///
/// The caller must add definitions and samples first, then all GPU work of the capture, then call
/// join().
class launch_metrics {
 public:
  /// Ignores metrics that are sampled over time.
  void define(metric_record const& metric, std::string_view name);
  void add(read_launch_record const& sample);
  void add(reading_value_record const& value);

  void see(kernel_shape const& shape);  // must come before its kernels
  void see(kernel_record const& kernel);
  void see(graph_record const& graph);
  void see(copy_record const& copy);
  void see(memset_record const& fill);

  void join();
  /// Returns false while readings around graphs are not assigned yet.
  bool is_joined() const noexcept { return is_joined_ || readings_.empty(); }

  /// Takes over metrics that `mine` lacks from the same workload in the capture of `rank`. Both
  /// must be joined. Returns false if `other` has no further metrics.
  bool adopt(workload_id const& mine, launch_metrics const& other, workload_id const& theirs,
             std::uint32_t rank);
  /// Returns the ranks whose readings a workload uses, besides its own.
  std::set<std::uint32_t> adopted_from(workload_id const& workload) const;

  std::uint64_t samples() const noexcept { return readings_.size(); }
  std::uint64_t sampled_launches() const noexcept { return launches_.size(); }
  std::uint64_t valid_samples() const noexcept { return valid_; }
  discarded_samples const& discarded() const noexcept { return discarded_; }

  /// Names of all metrics that were read.
  std::vector<std::string> const& names() const noexcept { return names_; }
  bool was_planned(device_id device, std::string_view metric) const;

  /// Returns nullptr if no valid sample of the workload has the metric.
  running_mean const* find(workload_id const& workload, std::string_view metric) const;
  /// Returns true if the counters include the graph's copies and fills.
  bool has_copies(workload_id const& graph) const { return graphs_with_copies_.contains(graph); }
  /// Returns the number of valid samples of the workload, for any metric.
  std::uint64_t samples_of(workload_id const& workload) const;
  bool has_workload(workload_id const& workload) const { return by_workload_.contains(workload); }

  /// Returns the workload of a sampled launch, or nothing if the reading was discarded. Call after
  /// join().
  std::optional<workload_id> workload_of(correlation_id launch) const {
    auto const found = by_correlation_.find(raw(launch));
    if (found == by_correlation_.end()) return {};
    auto const& sampled = launches_[found->second];
    return readings_[sampled.reading].is_valid ? std::optional(sampled.workload) : std::nullopt;
  }

  /// Returns how counters were read around the launch, even if the sample was discarded.
  sampling sampling_of(correlation_id correlation) const {
    auto const found = by_correlation_.find(raw(correlation));
    return found == by_correlation_.end() ? sampling::none : launches_[found->second].how;
  }

 private:
  struct read_launch {
    read_launch_record record;
    sampling how = sampling::plain;
    std::uint32_t kernels = 0;  // kernels with its correlation id
    workload_id workload;       // of the first kernel
    std::uint32_t reading = 0;
    graph_id graph{};  // of the first kernel, or of a copy
    bool beside_kernels = false, beside_copies = false, is_graph = false;
    bool has_copies = false;  // the graph of this launch has copies
  };
  struct reading {
    workload_id workload;
    bool is_valid = true;
  };
  struct defined_metric {
    std::uint32_t name = 0;
    bool slows = false;
  };
  struct workload_values {
    std::uint64_t samples = 0;
    std::vector<running_mean> of;  // indexed by metric name
    std::set<std::uint32_t> adopted_from;
  };
  struct placed_window {  // windows of a device are sorted by opening
    std::uint64_t opened = 0, closed = 0;
    std::uint64_t latest_close = 0;  // of this and all earlier windows
    std::uint32_t launch = 0;
  };

  std::uint32_t number_of(std::string_view name);
  void plan(device_id device, std::uint32_t name);
  void judge_readings();
  void order_windows();
  template <class Record>
  read_launch* launch_of(Record const& work);
  template <class F>
  void each_window(device_id device, timestamp_ns start, duration_ns duration, F f);
  template <class Record>
  void see_copy(Record const& copy);

  std::vector<read_launch> launches_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_correlation_;
  std::vector<reading> readings_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_reading_;
  std::map<device_id, std::vector<placed_window>> windows_;
  bool windows_in_order_ = false;
  std::map<std::pair<device_id, std::uint16_t>, bool> group_slows_;
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> name_index_;
  std::unordered_map<std::uint32_t, defined_metric> metrics_;
  std::map<device_id, std::vector<bool>> planned_;  // indexed by metric name
  std::vector<reading_value_record> values_;
  std::map<workload_id, workload_values> by_workload_;
  std::set<workload_id> graphs_with_copies_;
  std::set<shape_id> of_any_geometry_;
  discarded_samples discarded_;
  std::uint64_t valid_ = 0;
  bool is_joined_ = false;
};

}  // namespace gpuprof::host
