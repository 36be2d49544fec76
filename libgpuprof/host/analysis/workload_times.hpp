// SPDX-License-Identifier: Apache-2.0
// Counts how often and how long each workload ran, separated by the effect of counters on the
// launches.
#pragma once

#include "host/analysis/inferred_times.hpp"
#include "host/analysis/launch_metrics.hpp"
#include "host/analysis/samples.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace gpuprof::host {

/// Returns the listed name: the kernel's, or "[CUDA graph 3]".
std::string listed_name(workload_id const& id, kernel_labels const& labels);

/// Launches of one workload in the whole trace or inside a range.
struct launch_tally {
  std::uint64_t launches = 0;
  std::uint64_t slowed_launches = 0;  // launches whose kernel was rewritten to count
  std::uint64_t ns = 0;               // of the launches that were not slowed
  std::uint64_t slowed_ns = 0;

  void add(sampling how, bool is_new_launch, std::uint64_t duration) noexcept {
    launches += is_new_launch;
    if (how == sampling::slowed) {
      slowed_launches += is_new_launch;
      slowed_ns += duration;
    } else {
      ns += duration;
    }
  }
  launch_tally& operator+=(launch_tally const& more) noexcept {
    launches += more.launches;
    slowed_launches += more.slowed_launches;
    ns += more.ns;
    slowed_ns += more.slowed_ns;
    return *this;
  }
};

/// A part of a workload's launches; a fraction if launches without a stack are spread over others.
struct launched_part {
  std::uint32_t workload = 0;
  double launches = 0, ns = 0;
};

/// The caller must add all kernels and graphs after launch_metrics has all of its samples. Kernels
/// launched by a graph are workloads too; the graph is a workload one level above and counts their
/// time again.
class workload_times {
 public:
  explicit workload_times(launch_metrics const& metrics) : metrics_(metrics) {}

  struct seen {
    std::uint32_t workload = 0;    // index of the kernel, or of a graph recorded as a whole
    std::uint32_t counted_as = 0;  // the same, or the graph if counters were read around it
    sampling how{};
    bool is_new_launch = true;  // for `counted_as`; false: another kernel of the same graph launch
    // Only before launch_metrics::join(), for a kernel of a graph: the workload to use if counters
    // were read around the graph.
    struct whole_graph {
      std::uint32_t workload = 0;
      bool is_new_launch = true;
    };
    std::optional<whole_graph> undecided;
  };
  static workload_id id_of(kernel_record const& kernel) noexcept {
    return {kernel.device, kernel.shape, {}};
  }
  static workload_id id_of(graph_record const& graph) noexcept {
    return {graph.device, {}, graph.graph};
  }
  seen add(kernel_record const& kernel);
  seen add(graph_record const& graph);
  /// Adds launches that were summed elsewhere, for a workload without launches here. Returns its
  /// index.
  std::uint32_t add(workload_id const& id, launch_tally const& all, launch_tally const& sampled);

  std::size_t size() const noexcept { return workloads_.size(); }
  workload_id const& id(std::uint32_t index) const noexcept { return workloads_[index].id; }
  launch_tally const& tally(std::uint32_t index) const noexcept { return workloads_[index].all; }

  /// The kernels of all launches of a graph, by workload. Empty if it is no graph or its kernels
  /// have no records.
  std::map<std::uint32_t, launch_tally> const& nodes(std::uint32_t index) const noexcept {
    return workloads_[index].nodes;
  }
  bool has_graphs() const noexcept {
    return std::any_of(workloads_.begin(), workloads_.end(),
                       [](ran const& workload) { return raw(workload.id.graph) != 0; });
  }
  /// Returns true if its time is also counted by other workloads.
  bool is_level_above(std::uint32_t index) const noexcept { return !nodes(index).empty(); }

  /// Returns the ns of a launch without counters: the mean of launches that were not sampled. If
  /// all were, uses launches whose kernel was not rewritten; if there are none, nothing.
  std::optional<double> undisturbed_mean(std::uint32_t index) const noexcept;

  /// Total time of the launches; rewritten kernels count with the mean of the others.
  double time_of(std::uint32_t index, launch_tally const& part) const noexcept;

  /// What the time of these parts owes to launches of graphs that have the times of others.
  inferred_time inferred(std::span<launched_part const> parts) const;

 private:
  struct ran {
    workload_id id;
    launch_tally all;
    std::uint64_t unsampled_launches = 0, unsampled_ns = 0;
    std::unordered_set<std::uint32_t> graph_launches;  // correlation ids
    // the last of these, as kernels of one launch come together
    correlation_id last_launch{};
    std::map<std::uint32_t, launch_tally> nodes;  // graphs only: kernels by workload index
  };
  std::uint32_t index_of(workload_id const& id);
  bool is_new_graph_launch(ran& graph, correlation_id correlation);
  static void note(ran& workload, sampling how, bool is_new_launch, std::uint64_t ns) noexcept;

  struct hash {
    std::size_t operator()(workload_id const& id) const noexcept {
      auto const mixed = (std::uint64_t{raw(id.shape)} << 32 | raw(id.graph)) * 0x9E3779B97F4A7C15u;
      return static_cast<std::size_t>(mixed ^ (mixed >> 29) ^ raw(id.device));
    }
  };
  launch_metrics const& metrics_;
  inferred_times inferred_;  // lines are workloads
  std::vector<ran> workloads_;
  std::unordered_map<workload_id, std::uint32_t, hash> index_;
};

}  // namespace gpuprof::host
