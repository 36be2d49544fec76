// SPDX-License-Identifier: Apache-2.0
// Computes the standard error of sums in which launches of a CUDA graph have the times of others.
#pragma once

#include "model/gpu_work.hpp"
#include "model/ids.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// What a sum owes to times that were taken from other launches.
struct inferred_time {
  double ns = 0;  // of these launches
  /// One standard error of the whole sum; nothing: it is not known, as with one timed launch.
  std::optional<double> error_ns = 0.0;
  // Few timed launches say little about their spread. So the error is wider by this factor than
  // their deviation alone gives, and twice the error holds in 95 %.
  double widened_by = 1, freedom = 0;
};

/// With --cuda-graph-trace auto a launch that was not timed has the times of the latest one that
/// was. What this does to a sum follows from how much the timed launches differ, and from how many
/// launches have the times of each.
///
/// Takes rows in the order of a capture or in order of time. The rows of one launch that count for
/// the same line are added up first, because they are longer or shorter together.
class inferred_times {
 public:
  /// `line`: the numbers of a line (a shape, a workload), counted from 0.
  template <class Row>
  void add(Row const& row, std::uint32_t line) {
    add(row, {&line, 1}, line);
  }
  /// Adds a row to lines that hold some launches of a graph, as ranges do: each launch
  /// counts for its own lines, but all launches tell how much the rows with the number `alike`
  /// differ from launch to launch. A launch must have all of these in the same lines.
  template <class Row>
  void add(Row const& row, std::span<std::uint32_t const> lines, std::uint32_t alike) {
    if constexpr (requires { row.time_of; })
      if (raw(row.graph) != 0 && raw(row.node) != 0)
        add_node({row.graph, row.correlation, row.time_of, nanoseconds(row.duration)}, lines,
                 alike);
  }

  struct part {
    std::uint32_t line = 0;
    double share = 1;  // of the launches of this line
  };
  /// Parts of one graph are taken as longer or shorter together, graphs as independent.
  inferred_time of(std::span<part const> parts) const;
  inferred_time of(std::uint32_t line) const {
    part const all[] = {{line, 1}};
    return of(all);
  }
  bool any() const noexcept { return !series_.empty(); }

 private:
  struct node {
    graph_id graph;
    correlation_id launch, time_of;
    std::uint64_t ns;
  };
  /// The timed launches of one graph, as far as their rows are alike. One may begin while that
  /// before it still runs.
  struct timed_launches {
    struct open_launch {
      correlation_id id{}, time_of{};
      double ns = 0;
    };
    // These are sums without the last two launches.
    std::uint64_t launches = 0;
    double mean_ns = 0, squares = 0;
    open_launch last, before;
    correlation_id first{};

    bool holds(node const& ran) const noexcept;
    void add(node const& ran) noexcept;
    void close(open_launch const& one) noexcept;
  };
  /// The other launches of one graph as far as they count for one line. They are counted by the
  /// launch whose times they have; the squares of these counts are added.
  struct series {
    graph_id graph{};
    std::uint32_t timed = 0;  // place in timed_
    std::uint64_t inferred = 0, of_last = 0;
    double squares_of_counts = 0, inferred_ns = 0;
    correlation_id last{}, before{}, times_from{};  // the last two launches

    void add(node const& ran) noexcept;
  };
  struct known_error {
    double ns = 0, freedom = 0;
  };
  using places = std::unordered_map<std::uint64_t, std::uint32_t>;  // by graph and number
  void add_node(node const& ran, std::span<std::uint32_t const> lines, std::uint32_t alike);
  std::optional<known_error> error_of(series const& of, double share) const noexcept;

  std::vector<timed_launches> timed_;
  std::vector<series> series_;
  std::vector<std::vector<std::uint32_t>> of_line_;  // places in series_
  places timed_at_, series_at_;
};

}  // namespace gpuprof::host
