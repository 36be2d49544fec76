// SPDX-License-Identifier: Apache-2.0
// The work of one GPU while it was sampled: kernels, graphs, copies and fills, in order of start.
// Launches that differ much in length are divided into classes of similar length.
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

/// A group of executions that should count alike: one workload and similar length, or copies of one
/// direction.
struct work_kind {
  enum class what : std::uint8_t { launch, copy, fill };
  what is{};
  workload_id workload;  // only for launches
  copy_kind direction{};
  std::uint64_t times = 0;
  std::uint64_t begun = 0;  // those that started in a sample: this does not depend on their length
  double ns = 0;            // total time
  double shared_ns = 0;     // part of it in which other launches ran too
  double mean_ns() const noexcept { return times == 0 ? 0 : ns / static_cast<double>(times); }
};

struct work_item {
  std::uint64_t start = 0, end = 0;
  std::uint32_t kind = 0;
  float bytes = 0;        // only for copies and fills
  bool is_alone = false;  // nothing else ran at the same time
  std::uint64_t length() const noexcept { return end - start; }
};

/// Work that overlaps by less than this counts as successive: record clocks are not more exact.
inline constexpr std::uint64_t clock_slack_ns = 200;

class device_work {
 public:
  /// Keeps work that overlaps the samples. These must be sorted and must outlive this object.
  explicit device_work(sample_series const& samples) : samples_(samples) {}

  void add_launch(workload_id const& workload, correlation_id correlation, timestamp_ns start,
                  duration_ns duration);
  void add_copy(copy_record const& copy);
  void add_fill(memset_record const& fill);
  void finish();

  /// Returns the same kinds, but only the items of kinds for which `keeps` is true. Items that ran
  /// beside no other kept item count as alone. Call after finish().
  device_work only(std::vector<bool> const& keeps) const;

  /// Joins the launches of kinds with the same number, and divides them by their length. 0: the
  /// kind stays. Call after finish(). The items stay in their order, and joined kinds have no
  /// launches of their own.
  void join(std::span<std::uint32_t const> numbers);
  bool begins_in_sample(work_item const& item) const { return samples_.at(item.start).has_value(); }

  std::span<work_item const> items() const noexcept { return items_; }
  std::span<work_kind const> kinds() const noexcept { return kinds_; }

 private:
  std::uint32_t kind_of(work_kind const& like);
  void add(std::uint32_t kind, timestamp_ns start, duration_ns duration, std::uint64_t bytes);
  void divide_by_length(std::uint32_t first_kind);
  void count();
  void find_alone();
  void find_shared_time();

  sample_series const& samples_;
  std::vector<work_item> items_;
  std::vector<work_kind> kinds_;
  std::map<std::tuple<work_kind::what, workload_id, copy_kind>, std::uint32_t> kind_index_;
  // Maps a launch to the item that joins the kernels of its graph, if the graph counts as one
  // workload.
  std::unordered_map<std::uint32_t, std::uint32_t> graph_items_;
};

// Groups launches of one workload that differ much in length into classes of similar length.

/// Returns the lower limits of the second and later classes. Empty if all lengths are alike: one
/// class.
std::vector<std::uint64_t> length_limits(std::vector<std::uint64_t> lengths);

struct class_figure {
  std::uint64_t launches = 0;
  double ns = 0;  // total time
  std::optional<sampled_figure> figure;
};

/// Combines the figures of a workload's classes. Returns nullopt if much of its time is in classes
/// without a figure.
std::optional<sampled_figure> put_together(std::span<class_figure const> classes, summing how);

}  // namespace gpuprof::host
