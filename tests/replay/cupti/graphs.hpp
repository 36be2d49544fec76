// SPDX-License-Identifier: Apache-2.0
// Which executable graphs were instantiated while GRAPH_TRACE was enabled: others end the program
// when they are launched under it.
#pragma once

#include <cuda.h>

#include <map>
#include <mutex>

namespace gpuprof::replay {

/// Any thread. A session does not say when its graphs were instantiated: each is at its first
/// launch, or before the program began (REPLAY_GRAPHS_EARLY).
class graphs {
 public:
  static graphs& get() noexcept;

  /// It is to be instantiated now: it was not launched before.
  bool is_new(CUgraphExec graph);
  void made(CUgraphExec graph, bool under_graph_trace);
  bool is_whole(CUgraphExec graph);
  /// CUPTI was left: it knows no graph any more.
  void finalized();

 private:
  std::mutex lock_;  // protects the next
  std::map<CUgraphExec, bool> whole_;
};

}  // namespace gpuprof::replay
