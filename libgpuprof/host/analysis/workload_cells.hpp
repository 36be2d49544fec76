// SPDX-License-Identifier: Apache-2.0
// Counts the launches of each workload at numbered places: paths of ranges, or stacks.
#pragma once

#include "host/analysis/workload_times.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace gpuprof::host {

struct tallied_workload {
  std::uint32_t workload = 0;
  launch_tally tally;
};

class workload_cells {
 public:
  struct cell {
    std::uint32_t place = 0, workload = 0;
    launch_tally tally;
  };

  void add(std::uint32_t place, workload_times::seen const& seen, std::uint64_t ns);
  /// Needed if work was added before launch_metrics::join(): call after it.
  void decide(launch_metrics const& metrics, workload_times const& times);
  /// One for each place and workload.
  std::span<cell const> all() const noexcept { return cells_; }

 private:
  /// The kernels of one workload that a graph has launched.
  struct undecided_cell {
    std::uint32_t place = 0, workload = 0, graph = 0;
    launch_tally as_kernels, as_graph;
  };
  launch_tally& tally_of(std::uint32_t place, std::uint32_t workload);

  std::vector<cell> cells_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> cell_of_;
  std::vector<undecided_cell> undecided_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> undecided_of_;
};

}  // namespace gpuprof::host
