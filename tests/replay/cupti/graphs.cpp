// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/graphs.hpp"

#include "replay/cupti/faults.hpp"

#include <cstdint>

namespace gpuprof::replay {

graphs& graphs::get() noexcept {
  static auto* const one = new graphs;
  return *one;
}

/// The player numbers handles in steps of 2^16.
bool graphs::is_new(CUgraphExec graph) {
  auto const every = faults::get().graphs_early;
  auto const number = reinterpret_cast<std::uintptr_t>(graph) >> 16;
  auto const is_early = every != 0 && number % every == 0;
  std::lock_guard const hold(lock_);
  return whole_.emplace(graph, false).second && !is_early;
}

void graphs::made(CUgraphExec graph, bool under_graph_trace) {
  std::lock_guard const hold(lock_);
  whole_[graph] = under_graph_trace;
}

bool graphs::is_whole(CUgraphExec graph) {
  std::lock_guard const hold(lock_);
  return whole_[graph];
}

void graphs::finalized() {
  std::lock_guard const hold(lock_);
  for (auto& [_, whole] : whole_) whole = false;
}

}  // namespace gpuprof::replay
