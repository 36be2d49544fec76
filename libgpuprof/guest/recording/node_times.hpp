// SPDX-License-Identifier: Apache-2.0
// Makes records of the kernels of graphs that CUPTI recorded as wholes, from launches of the same
// graph that it recorded by nodes.
#pragma once

#include "model/ids.hpp"
#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace gpuprof::guest {

/// Where launches of a graph by nodes and as a whole alternate, CUPTI 13.0.1 gives kernels of the
/// last launch by nodes the times that they had in later launches of the whole (H200): all but the
/// start of the first one, and sometimes from several launches. So their times are counted from the
/// start of the launch that had them. They say how long each kernel takes, not when it ran in its
/// own launch.
///
/// Used by the drain thread only.
class node_times {
 public:
  /// Keeps a kernel of a graph until take(). Returns false for any other, and for graphs that are
  /// never launched as wholes.
  bool keep(kernel_record const& kernel);
  /// An execution of a whole graph.
  void add(graph_record const& whole);

  struct settled {
    std::vector<kernel_record> kernels;  // those that were made have a `time_of`
    std::vector<graph_record> unknown;   // no launch of these graphs was recorded by nodes
    std::uint64_t launches_made = 0;     // whose kernels were made
  };
  /// Takes the launches that ended before this moment: all their records have come by then.
  settled take(timestamp_ns ended_before);

  /// The start of the oldest work that is kept.
  std::optional<timestamp_ns> oldest() const noexcept;

 private:
  /// The kernels of one launch, in order of their start, and the stretches in which any of them
  /// ran.
  struct launch_by_nodes {
    std::vector<kernel_record> kernels;
    struct stretch {
      std::uint64_t begin = 0, end = 0;  // since the first kernel began
    };
    std::vector<stretch> busy;
    std::uint64_t busy_ns = 0;
  };
  struct graph {
    std::vector<launch_by_nodes> launches;  // kept
    std::vector<graph_record> wholes;
    std::vector<launch_by_nodes> known;  // complete ones, the latest last
    unsigned smaller = 0;                // launches in a row with fewer kernels than the known one
    bool has_wholes = false;
  };

  static launch_by_nodes const& known_at(graph const& of, timestamp_ns time) noexcept;
  static void take_launch(graph& of, launch_by_nodes launch, settled& into);
  static void learn(graph& of, launch_by_nodes const& launch);
  static void make(launch_by_nodes const& known, graph_record const& whole, correlation_id told_by,
                   settled& into);
  static std::uint64_t base_of(graph const& of, launch_by_nodes const& launch,
                               kernel_record const& kernel) noexcept;

  std::unordered_map<graph_id, graph> graphs_;
};

}  // namespace gpuprof::guest
