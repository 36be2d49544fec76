// SPDX-License-Identifier: Apache-2.0
#include "host/advice/rule.hpp"
#include "host/advice/rules/looks.hpp"

namespace gpuprof::host::advice {
namespace {

constexpr rule memory_table[] = {
    {.name = "pageable_copy",
     .group = rule_group::memory,
     .needs = data::kernels,
     .question = "Are buffers copied from or to pageable memory?",
     .fires_at = "the rate is below 0.6 of what pinned memory reaches on this machine (pageable "
                 "memory reaches a third of it); without peaks: they are alone on the GPU for 2 % "
                 "of the window",
     .gain =
         "low: the part of the copies that is alone on the GPU, at the pace of the quicker "
         "quarter, less what it takes at 0.8 of the pinned rate (without peaks: 0); high: all of "
         "that part and the idle time behind the copies",
     .ignores = "pinning costs time itself: it pays for buffers that are used again",
     .next = "--rule cuda_memcpy_async lists the copies",
     .look = look_at_pageable_copies},
    {.name = "synchronous_copy",
     .group = rule_group::memory,
     .needs = data::kernels | data::blocking_calls,
     .question = "Does the program wait inside cudaMemcpy, and the GPU idle after it?",
     .fires_at = "the idle time behind the call, not the call itself; reads of a few bytes are "
                 "sync_point's, pageable copies pageable_copy's",
     .gain = "low: the sum of min(gap, call); high: the idle time, at most P - max(B + n x pause, "
             "C)",
     .ignores = "code that needs the data at once",
     .next = "--rule cuda_memcpy_sync lists the copies",
     .look = look_at_synchronous_copies},
    {.name = "copy_alone",
     .group = rule_group::memory,
     .needs = data::kernels,
     .question = "Does nothing run beside the copies?",
     .fires_at = "copies of 64 KB and more are alone on the GPU for 2 % of the window",
     .gain = "low: 0; high: that time, at most the time of the kernels, and P - max(B - copies + "
             "n x pause, C)",
     .ignores = "kernels that need the copied data at once",
     .next = "a timeline (gpuprof export) shows what could run beside them",
     .look = look_at_copies_alone},
    {.name = "small_copies",
     .group = rule_group::memory,
     .needs = data::kernels,
     .question = "Are many small buffers copied one by one?",
     .fires_at = "ten or more in a row of less than 64 KB each: a copy costs a launch, and 64 KB "
                 "take little more than 1 us at 55 GB/s; without peaks: a row has less than 64 KB",
     .gain = "low: their time alone - bytes at the measured rate; high: their time + a launch "
             "each - bytes at the measured rate; without peaks: - the time of one copy a row",
     .ignores = "buffers that are scattered on both sides",
     .next = "gpuprof stats -r cuda_gpu_mem_size_sum lists sizes",
     .look = look_at_small_copies},
    {.name = "round_trip",
     .group = rule_group::memory,
     .needs = data::kernels | data::ranges,
     .question = "Is data copied to the host and back?",
     .fires_at = "as many copies of as many bytes go to the host as come from it, in one range",
     .gain = "low: 0; high: the time of both that is alone on the GPU, and the idle time of "
             "blocking copies in that range",
     .ignores = "work of the CPU on the data; equal sizes by chance",
     .next = "NVTX ranges around the parts of a step name the place",
     .look = look_at_round_trips},
    {.name = "alloc_in_loop",
     .group = rule_group::memory,
     .needs = data::kernels | data::blocking_calls,
     .question = "Is memory allocated and freed in the loop?",
     .fires_at = "one call a step or more after warm-up (without steps: ten): cudaFree waits for "
                 "the GPU",
     .gain =
         "low: 0.7 x min(gap, call) of the quickest twentieth, times the gaps: what takes longer "
         "was held by something else, as this profiler, and tracing makes all of them longer; "
         "high: calls + idle time behind them, at "
         "most P - max(B + n x pause, C - calls)",
     .ignores = "pools that still grow",
     .next = "NVTX ranges around the parts of a step name the place",
     .look = look_at_allocations},
    {.name = "um_faults",
     .group = rule_group::memory,
     .needs = data::kernels | data::unified_memory | data::peaks,
     .question = "Do pages of unified memory travel while kernels wait for them?",
     .fires_at = "their bytes at the measured host-to-device rate take 2 % of the window",
     .gain = "low: time of migration beside no kernel - bytes at that rate; high: all of the time "
             "of migration",
     .ignores = "more data than the GPU has memory for",
     .next = "gpuprof stats -r um_sum",
     .min_instances = 1,
     .look = look_at_migrations},
};

}  // namespace

std::span<rule const> memory_rules() noexcept {
  return memory_table;
}

}  // namespace gpuprof::host::advice
