// SPDX-License-Identifier: Apache-2.0
// What ran on one GPU while it was sampled: kernels, graphs, copies and fills, in order of start;
// launches that differ much in length are in classes of similar length.
#pragma once

#include "host/analysis/launch_metrics.hpp"
#include "host/analysis/sampling/sample_series.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"
#include "host/analysis/sampling/sampled_metric.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// Executions that are expected to count alike: of one workload and of similar length, or copies of
/// one direction.
struct work_kind {
  enum class what : std::uint8_t { launch, copy, fill };
  what is{};
  workload_id workload;  // of launches
  copy_kind direction{};
  std::uint64_t times = 0;
  std::uint64_t begun =
      0;          // of these, in samples: how often a kind is seen does not depend on its length
  double ns = 0;  // of all of them
  double shared_ns = 0;  // of these: other launches ran too
  double mean_ns() const noexcept { return times == 0 ? 0 : ns / static_cast<double>(times); }
};

struct work_item {
  std::uint64_t start = 0, end = 0;
  std::uint32_t kind = 0;
  float bytes = 0;        // of copies and fills
  bool is_alone = false;  // nothing else ran in its time
  std::uint64_t length() const noexcept { return end - start; }
};

/// Work that overlaps by less ran one after the other: the clocks of records do not agree better.
inline constexpr std::uint64_t clock_slack_ns = 200;

class device_work {
 public:
  /// Keeps what shares a moment with the samples, which outlive it and are in order.
  explicit device_work(sample_series const& samples) : samples_(samples) {}

  void add_launch(workload_id const& workload, correlation_id correlation, timestamp_ns start,
                  duration_ns duration);
  void add_copy(copy_record const& copy);
  void add_fill(memset_record const& fill);
  void finish();

  std::span<work_item const> items() const noexcept { return items_; }
  std::span<work_kind const> kinds() const noexcept { return kinds_; }

 private:
  std::uint32_t kind_of(work_kind const& like);
  void add(std::uint32_t kind, timestamp_ns start, duration_ns duration, std::uint64_t bytes);
  void divide_by_length();
  void find_alone();
  void find_shared_time();

  sample_series const& samples_;
  std::vector<work_item> items_;
  std::vector<work_kind> kinds_;
  std::map<std::tuple<work_kind::what, workload_id, copy_kind>, std::uint32_t> kind_index_;
  // Kernels of a graph that counts as one workload are parts of one item, by launch.
  std::unordered_map<std::uint32_t, std::uint32_t> graph_items_;
};

// Launches of one workload that differ much in length, looked at in classes of similar length.

/// Lengths below the first limit are of the first class, and so on; those at or above the last are
/// of the last. Empty where all are alike: one class.
std::vector<std::uint64_t> length_limits(std::vector<std::uint64_t> lengths);

struct class_figure {
  std::uint64_t launches = 0;
  double ns = 0;  // of all of them
  std::optional<sampled_figure> figure;
};

/// The figure of a workload from those of its classes; nullopt where much of its time is in classes
/// without one.
std::optional<sampled_figure> put_together(std::span<class_figure const> classes, summing how);

}  // namespace gpuprof::host
