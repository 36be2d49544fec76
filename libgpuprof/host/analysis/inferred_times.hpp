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
    if constexpr (requires { row.time_of; })
      if (raw(row.graph) != 0 && raw(row.node) != 0)
        add_node({row.graph, row.correlation, row.time_of, nanoseconds(row.duration)}, line);
  }

  struct part {
    std::uint32_t line = 0;
    double share = 1;  // of the launches of this line
  };
  /// Parts of one graph are taken as longer or shorter together, graphs as independent.
  inferred_time of(std::span<part const> parts) const;
  bool any() const noexcept { return any_; }

 private:
  struct node {
    graph_id graph;
    correlation_id launch, time_of;
    std::uint64_t ns;
  };
  /// The launches of one graph as far as they count for one line.
  struct series {
    graph_id graph{};
    // These are sums over the timed launches without the last.
    std::uint64_t timed = 0;
    double mean_ns = 0, squares = 0;
    correlation_id last_timed{}, first_timed{};
    double last_ns = 0;
    // These count the others by the launch whose times they have, and add the squares.
    std::uint64_t inferred = 0, of_last = 0;
    double squares_of_counts = 0, inferred_ns = 0;
    correlation_id last_inferred{}, times_from{};

    bool is_timed(node const& ran) const noexcept;
    void add(node const& ran) noexcept;
    void close_timed() noexcept;
    std::optional<double> error_ns() const noexcept;
  };
  void add_node(node const& ran, std::uint32_t line);

  std::vector<series> series_;
  std::vector<std::vector<std::uint32_t>> of_line_;  // places in series_
  std::unordered_map<std::uint64_t, std::uint32_t> index_;
  bool any_ = false;
};

}  // namespace gpuprof::host
