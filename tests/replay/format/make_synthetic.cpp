// SPDX-License-Identifier: Apache-2.0
// Writes a synthetic session: gpuprof-make-synthetic FILE [name=value]...
#include "replay/format/recording_file.hpp"
#include "replay/format/synthetic_session.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int count, char** arguments) {
  using namespace gpuprof::replay;
  if (count < 2 || arguments[1][0] == '-') {
    std::fprintf(
        stderr,
        "usage: %s FILE [threads=N] [launches=N] [copies=N] [graphs=N] [nodes=N] [spread=N] "
        "[cooperative=N] [collectives=N] [captured=N] [captures=N] "
        "[kernel_ns=N] [lengths=N] [long_ns=N] [step_ns=N] [products=0|1] [churn=N] "
        "[waits=0|1] [profiler_calls=0|1]\n",
        arguments[0]);
    return 2;
  }
  synthetic_plan plan;
  for (int i = 2; i < count; ++i) {
    std::string_view const argument = arguments[i];
    auto const equals = argument.find('=');
    auto const key = argument.substr(0, equals);
    auto const value =
        equals == argument.npos
            ? 0u
            : static_cast<unsigned>(std::strtoul(arguments[i] + equals + 1, nullptr, 10));
    if (key == "threads")
      plan.threads = value;
    else if (key == "launches")
      plan.launches_per_thread = value;
    else if (key == "copies")
      plan.copies = value;
    else if (key == "graphs")
      plan.graph_launches = value;
    else if (key == "nodes")
      plan.graph_nodes = value;
    else if (key == "spread")
      plan.spread = value;
    else if (key == "cooperative")
      plan.cooperative = value;
    else if (key == "collectives")
      plan.collectives = value;
    else if (key == "captured")
      plan.captured = value;
    else if (key == "captures")
      plan.captures = value;
    else if (key == "churn")
      plan.churn = value;
    else if (key == "lengths" && value != 0)
      plan.lengths = value;
    else if (key == "long_ns")
      plan.long_ns = value;
    else if (key == "kernel_ns")
      plan.kernel_ns = value;
    else if (key == "step_ns")
      plan.step_ns = value;
    else if (key == "products")
      plan.products = value != 0;
    else if (key == "waits")
      plan.waits = value != 0;
    else if (key == "profiler_calls")
      plan.profiler_calls = value != 0;
    else {
      std::fprintf(stderr, "%s: unknown setting \"%s\"\n", arguments[0], arguments[i]);
      return 2;
    }
  }
  auto const written = write_recording(make_synthetic_session(plan), arguments[1]);
  if (!written) std::fprintf(stderr, "%s\n", written.message().c_str());
  return written ? 0 : 1;
}
