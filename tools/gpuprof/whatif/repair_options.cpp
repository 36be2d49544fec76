// SPDX-License-Identifier: Apache-2.0
#include "whatif/repair_options.hpp"

#include "word_option.hpp"

#include <CLI/CLI.hpp>

namespace gpuprof::host::command {

void add_repair_options(CLI::App& command, repair_options& options) {
  auto const add = [&](char const* name, std::vector<std::string>& to, char const* help) {
    command.add_option(name, to, help)
        ->expected(1)
        ->allow_extra_args(false)
        ->check(not_empty)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  add("--drop", options.drop,
      "NAME or regex:EXPRESSION: these kernels, copies or fills go, with their launches. Names as "
      "in stats; or kernels, copies, fills. May be given several times, as all that take a NAME");
  add("--merge", options.merge, "NAME: in each step they become one launch with the time of all");
  add("--scale", options.scale,
      "NAME=FACTOR: these kernels, copies or calls take this much of "
      "their time");
  add("--roof", options.roof,
      "NAME: these kernels take the time that they would take at their roof; the capture needs "
      "counters and peaks");
  add("--no-call", options.no_call, "NAME: these CUDA calls go, such as cudaStreamSynchronize");
  add("--cpu", options.cpu,
      "RANGE=FACTOR: CPU work inside of this NVTX range takes this much of "
      "its time");
  command
      .add_option("--no-cpu-longer", options.no_cpu_longer,
                  "TIME: CPU work of this length or longer, between two launches or calls, goes "
                  "(ns, us, ms, s)")
      ->check(not_empty);
  add("--graph", options.graph, "RANGE: what each of these ranges launches is one CUDA graph");
  add("--overlap", options.overlap,
      "NAME or copies: they run in a stream of their own, beside "
      "the rest");
  command.add_flag("--pinned", options.pinned,
                   "Copies from and to pageable memory use pinned memory instead");
  command
      .add_option("--launch-cost", options.launch_cost_ns, "NS: each launch takes the CPU so long")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--without-profiler", options.without_profiler,
                   "Launches without what this profiler adds to them");
}

}  // namespace gpuprof::host::command
