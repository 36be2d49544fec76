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
  /// The moments before which a launch must have ended to be passed on. Its records should all have
  /// come by then.
  struct bounds {
    timestamp_ns ended_before;
    /// A later moment, for graphs whose launches by nodes have as many records as those before.
    timestamp_ns complete_before{};
  };
  /// Passes on the launches that ended before, and sooner those of graphs that are never launched
  /// as wholes. Returns the number of launches whose kernels were computed.
  std::uint64_t take(bounds const& until, receiver const& to);

  /// True if kernels of a graph came without their launch, as those inside of conditional nodes do.
  /// They are missing in wholes.
  bool lacks_launches() const noexcept { return lacks_launches_; }
  /// The start of the oldest work that is kept.
  std::optional<timestamp_ns> oldest() const noexcept;

 private:
  /// A kernel, or when and where a copy or fill ran.
  struct node_work : kernel_record {
    std::uint32_t moved = 0;  // its place in launch_by_nodes::moved, from 1 on; 0: a kernel
  };
  /// The work of one launch, in order of its start, and the stretches in which any of it ran.
  struct launch_by_nodes {
    correlation_id correlation{};
    std::vector<node_work> work;  // empty if memory ran out
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
    std::size_t by_nodes = 0;                     // launches, as long as it has no wholes
    std::uint64_t first_end = ~std::uint64_t{0};  // nothing that is kept ended before
    /// None of its launches will be a whole, as far as one can see.
    bool is_never_whole() const noexcept;
    /// No record of its launches by nodes is missing, as far as one can see.
    bool is_complete() const noexcept;
    std::uint64_t last_use = 0;  // when its latest work ended
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
  bool lacks_launches_ = false;
};

}  // namespace gpuprof::guest
