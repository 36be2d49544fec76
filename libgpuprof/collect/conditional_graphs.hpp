// SPDX-License-Identifier: Apache-2.0
// Knows which executable graphs have conditional nodes: not every CUPTI records the kernels inside
// of these.
#pragma once

#include "cupti/api.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace gpuprof {

/// A thread's call that instantiates a graph.
struct graph_instantiation {
  bool is_under_way = false;
  bool has_conditional = false;  // a node that was cloned for it
};

/// Any thread, inside callbacks. Graphs that were instantiated before these were heard of are not
/// known.
class conditional_graphs {
 public:
  static void begins(graph_instantiation& own) noexcept { own = {.is_under_way = true}; }
  static void ends(graph_instantiation& own) noexcept { own = {}; }
  /// CUPTI tells of every node, also of child graphs, as the graph is copied to be executable.
  static void node_cloned(graph_instantiation& own, CUgraphNodeType type) noexcept {
    if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL && own.is_under_way) own.has_conditional = true;
  }
  void made(graph_instantiation const& own, CUgraphExec graph) noexcept {
    if (!own.has_conditional) return gone(graph);  // its address may have been another's
    std::lock_guard const lock(mutex_);
    try {
      known_.insert(graph);
    } catch (...) {  // for want of memory nothing is told of it
    }
    any_.store(!known_.empty());
  }
  void gone(CUgraphExec graph) noexcept {
    if (!any_.load(std::memory_order_relaxed)) return;
    std::lock_guard const lock(mutex_);
    known_.erase(graph);
    any_.store(!known_.empty());
  }
  bool has(CUgraphExec graph) const noexcept {
    if (!any_.load(std::memory_order_relaxed)) return false;
    std::lock_guard const lock(mutex_);
    return known_.count(graph) != 0;
  }

 private:
  mutable std::mutex mutex_;  // protects known_
  std::unordered_set<CUgraphExec> known_;
  std::atomic<bool> any_{false};
};

}  // namespace gpuprof
