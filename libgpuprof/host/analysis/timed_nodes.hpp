// SPDX-License-Identifier: Apache-2.0
// Tells which times of a graph's nodes were measured, and which repeat those of another launch.
#pragma once

#include "model/ids.hpp"
#include "model/records.hpp"

#include <unordered_map>

namespace gpuprof::host {

/// With --cuda-graph-trace auto most launches of a graph have the times of a timed one. These say
/// nothing about how much the times vary. Rows must come in order of time.
class timed_nodes {
 public:
  /// Returns true if a row before has given the same measurement.
  template <class Row>
  bool is_repeated(Row const& row) {
    if constexpr (requires { row.time_of; }) {
      if (raw(row.node) == 0) return false;
      auto& last = last_[row.node];
      auto const is_known = row.time_of == last.correlation || row.time_of == last.time_of;
      if (raw(row.time_of) != 0 && is_known) return true;
      // Rows with the times of this one name its launch, or the same launch as it does.
      last = {row.correlation, row.time_of};
    }
    return false;
  }

 private:
  struct measurement {
    correlation_id correlation{}, time_of{};
  };
  std::unordered_map<graph_node_id, measurement> last_;
};

}  // namespace gpuprof::host
