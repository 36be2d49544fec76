// SPDX-License-Identifier: Apache-2.0
#include "host/advice/rule.hpp"
#include "host/advice/rules/looks.hpp"

namespace gpuprof::host::advice {
namespace {

constexpr rule launch_table[] = {
    {.name = "cuda_graph",
     .group = rule_group::launches,
     .needs = data::kernels | data::blocking_calls,
     .question = "Do the same kernels repeat in one order, so that a CUDA graph can launch them?",
     .fires_at = "5 or more launches repeat 10 times or more without a wait, an allocation or a "
                 "pageable copy inside, and the GPU idles for 10 % of their time: shorter or rarer "
                 "ones cost more to build than they save",
     .gain =
         "high: run - the greater of busy and n x graph_node - what this profiler adds to n "
         "launches (those of this run that come quickly, beyond launch_throughput); low: 0, the "
         "CPU may have work of its own between the launches",
     .ignores = "shapes and addresses that change, work of the CPU between the launches, memory of "
                "the graph's own",
     .next = "--trace cuda-api shows what the launching thread does between launches",
     .look = look_at_sequences},
    {.name = "launch_bound",
     .group = rule_group::launches,
     .needs = data::kernels,
     .question = "Does the GPU wait for launches of kernels that are shorter than a launch?",
     .fires_at = "the median distance of two launches exceeds the median kernel, and the GPU waits "
                 "for launches in 10 % of the window: no constant of another machine is needed",
     .gain = "low: 0; high: half of the launches, P - max(B + n/2 x pause, C - n/2 x distance), "
             "the distance without what this profiler adds",
     .ignores = "what the CPU must do between launches; waits for graphs: tracing each node makes "
                "their launches several times as long",
     .next = "NVTX ranges name the part of the program",
     .look = look_at_tiny_kernels},
    {.name = "launch_latency",
     .group = rule_group::launches,
     .needs = data::kernels | data::peaks,
     .question = "Does work start later after its launch than this machine can start it?",
     .fires_at =
         "the fastest starts of this run take twice the measured launch_latency: below that "
         "the clocks of CPU and GPU, which differ by some us, may be the reason",
     .gain = "low: 0; high: gaps in which the GPU waited for the host x (delay - launch_latency)",
     .ignores = "other processes on the CPU or GPU, power saving of the CPU, virtual machines",
     .next = "gpuprof peaks --only latency --refresh on the idle machine",
     .look = look_at_launch_delay},
    {.name = "late_module_load",
     .group = rule_group::launches,
     .needs = data::kernels | data::blocking_calls,
     .question = "Are kernels loaded while the program is in its steady state?",
     .fires_at = "loading takes 1 ms or more on average after warm-up: each function is loaded "
                 "once, at its first launch",
     .gain = "low: the sum of min(gap, call); high: the idle time behind the calls",
     .ignores = "code that only later steps run",
     .next = "CUDA_MODULE_LOADING=EAGER loads all at the start",
     .min_instances = 1,
     .look = look_at_late_modules},
    {.name = "graph_rebuild",
     .group = rule_group::launches,
     .needs = data::kernels | data::blocking_calls,
     .question = "Are CUDA graphs built again and again?",
     .fires_at = "idle time behind calls that build graphs, after warm-up",
     .gain = "low: the sum of min(gap, call); high: the idle time behind the calls, at most "
             "P - max(B + n x pause, C - calls)",
     .ignores = "graphs whose structure changes",
     .next = "--trace cuda-api lists the calls",
     .look = look_at_graph_builds},
    {.name = "gpu_idle",
     .group = rule_group::launches,
     .needs = data::kernels,
     .question = "Does the GPU idle for a reason that no other rule looks at?",
     .fires_at = "one cause takes 2 % of the window: a constant length such as 500 ms never fires "
                 "in a step of 20 ms",
     .gain = "low: what ends with the cause alone; high: the idle time, at most "
             "P - max(B + n x pause, C - idle)",
     .ignores = "work that the CPU must do there",
     .next = "--trace cuda-api, NVTX ranges around the parts of a step",
     .look = look_at_other_idle_time},
};

}  // namespace

std::span<rule const> launch_rules() noexcept {
  return launch_table;
}

}  // namespace gpuprof::host::advice
