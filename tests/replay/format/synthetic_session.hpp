// SPDX-License-Identifier: Apache-2.0
// A made-up session with known counts, for unit tests; nothing in it was measured.
#pragma once

#include "replay/format/recording.hpp"

namespace gpuprof::replay {

struct synthetic_plan {
  unsigned threads = 1;
  unsigned launches_per_thread = 20;
  unsigned copies = 2;          // host to device, on the first thread
  unsigned graph_launches = 1;  // of graph_nodes kernels each
  unsigned graph_nodes = 5;
  // Lengths of nodes vary by so many %. They have names of their own then, and graphs are launched
  // in ranges.
  unsigned spread = 0;
  unsigned cooperative = 0;   // cooperative launches, on the first thread as all below
  unsigned collectives = 0;   // launches of a kernel that is called as NCCL's are
  unsigned captured = 0;      // launches into a stream capture: they run nothing
  unsigned captures = 0;      // of streams, five launches each, on a thread of their own
  unsigned kernel_ns = 1000;  // length of each kernel
  unsigned lengths = 1;       // so many different ones: once, twice, ... kernel_ns in turn
  std::uint64_t long_ns = 0;  // after a quarter of the launches one runs so long on its own stream
  unsigned step_ns = 20'000;  // from one launch to the next
  bool products = false;      // every fourth launch is of a kernel called as bf16 products are
  unsigned churn = 0;  // so often, at the end, a context, a module, a graph, a domain come and go
  bool waits = false;  // after each launch its thread waits for its stream
  bool profiler_calls = false;  // cuProfilerStart after a quarter of the launches, Stop after half
};

/// Each launch lies in two nested NVTX ranges: "step" (default domain) and a registered "launch" in
/// the domain "synthetic". The facts say "synthetic".
recording make_synthetic_session(synthetic_plan const&);

}  // namespace gpuprof::replay
