// SPDX-License-Identifier: Apache-2.0
#include "captured_settings.hpp"

#include "guest/options/option_table.hpp"

namespace gpuprof {

metrics_options captured_metrics(trace_contents const& trace) {
  settings asked;
  for (auto const* const name : {"metrics", "set", "overhead-budget", "overhead-once"}) {
    auto const& option = *find_option(name);
    auto const said = trace.fact("environment." + environment_name(option));
    // What the profiler did not take either leaves the default.
    if (!said.empty()) (void)set_option(asked, option, said, name);
  }
  return asked.metrics;
}

}  // namespace gpuprof
