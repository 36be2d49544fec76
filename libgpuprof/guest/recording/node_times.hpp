// SPDX-License-Identifier: Apache-2.0
// Computes the kernels, copies and fills of graphs that CUPTI recorded as wholes, from launches of
// the same graph that it recorded by nodes.
#pragma once

#include "model/ids.hpp"
#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <variant>
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
  /// Keeps work of a graph until take(). Returns false for any other, and for work whose launch is
  /// not known.
  bool keep(kernel_record const& kernel);
  bool keep(copy_record const& copy) { return keep_moved(copy); }
  bool keep(memset_record const& fill) { return keep_moved(fill); }
  /// An execution of a whole graph.
  void add(graph_record const& whole);

  struct receiver {  // what was computed has a `time_of`
    std::function<void(kernel_record const&)> kernel;
    std::function<void(copy_record const&)> copy;
    std::function<void(memset_record const&)> fill;
    std::function<void(graph_record const&)> unknown;  // no launch of it was recorded by nodes
  };
  /// Passes on the launches that ended before this moment, whose records should all have come by
  /// then, and sooner those of graphs that are never launched as wholes. Returns the number of
  /// launches whose kernels were computed.
  std::uint64_t take(timestamp_ns ended_before, receiver const& to);

  /// The start of the oldest work that is kept.
  std::optional<timestamp_ns> oldest() const noexcept;

  /// How much longer graphs run on the GPU if their nodes are recorded: in all launches since the
  /// last call, as if all had been recorded like that.
  struct cost_of_nodes {
    double ns = 0;
    std::uint64_t launches = 0;          // of graphs
    std::uint64_t launches_unknown = 0;  // of these, of graphs of which it is not known yet
    bool is_incomplete = false;          // some kernels would be missing in wholes
    /// Returns N if recording the nodes of one launch in N costs this share of the time, at most
    /// max_one_in; nothing if too little is known.
    std::optional<std::uint32_t> one_in(std::uint64_t time_ns, double percent) const noexcept;
  };
  static constexpr std::uint32_t max_one_in = 128;
  cost_of_nodes take_cost() noexcept;

 private:
  /// A kernel, or when and where a copy or fill ran.
  struct node_work : kernel_record {
    std::uint32_t moved = 0;  // its place in launch_by_nodes::moved, from 1 on; 0: a kernel
  };
  /// The work of one launch, in order of its start, and the stretches in which any of it ran.
  struct launch_by_nodes {
    std::vector<node_work> work;
    std::vector<std::variant<copy_record, memset_record>> moved;
    std::uint64_t first_start = 0, last_end = 0;
    struct stretch {
      std::uint64_t begin = 0, end = 0;  // since the first kernel began
    };
    std::vector<stretch> busy;
    std::uint64_t busy_ns = 0;
  };
  struct graph {
    std::vector<launch_by_nodes> launches;  // kept
    std::vector<graph_record> wholes;       // kept
    std::vector<launch_by_nodes> known;     // complete ones, the latest last
    unsigned smaller = 0;                   // launches in a row with less work than the known one
    bool has_wholes = false;
    std::size_t by_nodes = 0;  // launches that had times of their own
    /// None of its launches will be a whole, as far as one can see.
    bool is_never_whole() const noexcept;
    std::uint64_t last_use = 0;               // when its latest work ended
    double by_nodes_ns = 0, as_whole_ns = 0;  // how long its latest launches took; 0: not known
    void count(cost_of_nodes& cost) const noexcept;
  };

  static launch_by_nodes const& known_at(graph const& of, timestamp_ns time) noexcept;
  launch_by_nodes* launch_of(kernel_record const& work);
  template <class Moved>
  bool keep_moved(Moved const& moved);
  static void pass(launch_by_nodes const& from, node_work const& work, receiver const& to);
  bool take_launch(graph& of, launch_by_nodes launch, receiver const& to);
  static void learn(graph& of, launch_by_nodes launch);
  static void compute(launch_by_nodes const& known, graph_record const& whole,
                      correlation_id times_from, receiver const& to);
  static std::uint64_t base_of(graph const& of, launch_by_nodes const& launch,
                               node_work const& work) noexcept;
  std::uint64_t take_of(graph& of, timestamp_ns ended_before, receiver const& to);

  std::unordered_map<graph_id, graph> graphs_;
  std::uint64_t first_end_ = ~std::uint64_t{0};  // nothing that is kept ended before
  cost_of_nodes cost_;
};

}  // namespace gpuprof::guest
