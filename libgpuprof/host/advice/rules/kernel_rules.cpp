// SPDX-License-Identifier: Apache-2.0
// Rules on kernels: each row says what the rule looks for and what it cannot know.
#include "host/advice/rule.hpp"
#include "host/advice/rules/kernel/kernel_view.hpp"

namespace gpuprof::host::advice {
namespace {

constexpr auto with_counters = data::kernels | data::counters | data::peaks;
constexpr auto explained = with_counters | data::explain;

// Launches are counted by name over all geometries (kernels_worth_a_look), so one geometry may have
// only one launch.
constexpr rule kernel_table[] = {
    {.name = "misaligned_products",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do products of matrices load less than 16 bytes at a time?",
     .fires_at =
         "the kernel's name says align1, 2 or 4 and this is less than 16 bytes: tensor cores "
         "are fed 16 bytes at a time; not where DRAM is at 0.7 of its roof",
     .gain =
         "high: time x (1 - share of the roof / 0.8), or what the best aligned product of this "
         "run would save, if that is more; without counters time x (1 - bytes / 16); low: half of "
         "the smaller",
     .ignores = "kernels whose names do not say their alignment",
     .next = "--metrics auto says how far they are from the roof",
     .min_instances = 1,
     .look = at_many_kernels<look_at_alignment>},
    {.name = "tensor_idle",
     .group = rule_group::kernel,
     .needs = with_counters,
     .question = "Do products run on CUDA cores that tensor cores could compute?",
     .fires_at =
         "a product in 16 bit or FP64 with tensor cores active below 1 %, where the peak of "
         "these is higher",
     .gain = "high: time - max(FLOP / 0.8 of the tensor-core peak, bytes / DRAM rate); low: half",
     .ignores = "sizes for which no tensor-core kernel exists",
     .next = "gpuprof roofline --by signature",
     .min_instances = 1,
     .look = at_each_kernel<look_at_idle_tensor_cores>},
    {.name = "fp32_products",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Are products computed in FP32 where TF32 would do?",
     .fires_at =
         "the name says sgemm or FFMA, or FP32 is 90 % of the FLOP at 0.3 of its roof, on a "
         "GPU that has TF32",
     .gain = "high: time - max(FLOP / 0.8 of the TF32 peak, bytes / DRAM rate), where FLOP are not "
             "known time x (1 - FP32 peak / TF32 peak); low: half of it; without peaks 0 to 7/8 of "
             "the time",
     .ignores = "that results change in their last digits: who chose FP32 skips this rule",
     .next = "--metrics auto counts the FLOP",
     .min_instances = 1,
     .look = at_many_kernels<look_at_fp32_products>},
    {.name = "fp64_unwanted",
     .group = rule_group::kernel,
     .needs = with_counters,
     .question = "Is there double precision on a GPU that is slow at it?",
     .fires_at = "15 % of the FLOP are FP64 (as Nsight Compute), where its peak is below 1/8 of "
                 "FP32's",
     .gain = "high: time x FP64's share of the time of all FLOP at their peaks x (1 - FP64 peak / "
             "FP32 peak); low: half of time x share of the FP64 peak x the same",
     .ignores = "that results change, and what needs FP64",
     .next = "search the source for constants without f",
     .min_instances = 1,
     .look = at_each_kernel<look_at_fp64>},
    {.name = "padded_work",
     .group = rule_group::kernel,
     .needs = data::kernels | data::counters | data::declared,
     .question = "Is more computed than the program declares?",
     .fires_at = "counted FLOP above 1.05 of those declared by ranges: below, conventions differ",
     .gain = "high: time x (1 - declared / counted); low: half",
     .ignores = "how the program counts",
     .next = "gpuprof roofline --by range",
     .min_instances = 1,
     .look = at_each_kernel<look_at_padding>},
    {.name = "uncoalesced",
     .group = rule_group::kernel,
     .needs = explained,
     .question = "Are fetched bytes of global memory left unused?",
     .fires_at =
         "below 0.75 of the bytes of touched sectors used (else above 16 sectors a load), and "
         "L1, L2 or DRAM at 0.4 of its roof: otherwise the waste costs little",
     .gain = "high: time x unused x what leaves L1; low: half of time x unused x use of the level "
             "that it holds up",
     .ignores = "gathers whose addresses the data decides",
     .next = "gpuprof roofline shows the rates of L2 and DRAM",
     .min_instances = 1,
     .look = at_each_kernel<look_at_coalescing>},
    {.name = "bank_conflicts",
     .group = rule_group::kernel,
     .needs = explained,
     .question = "Are accesses to shared memory repeated for conflicts?",
     .fires_at =
         "a tenth of the accesses (as Nsight Compute), where shared memory is busy in 0.4 of "
         "the cycles",
     .gain =
         "high: time x conflicts x min(1, pipe use / 0.8); low: half of time x conflicts x pipe "
         "use squared",
     .ignores = "what holds the kernel once they are gone",
     .next = "look for strides of 32 words in shared memory",
     .min_instances = 1,
     .look = at_each_kernel<look_at_bank_conflicts>},
    {.name = "local_memory",
     .group = rule_group::kernel,
     .needs = with_counters,
     .question = "Do registers spill where memory is busy?",
     .fires_at = "local memory in use and L2 or DRAM at 0.4 of its roof",
     .gain =
         "high: time x sectors of L1 that are no global access x use of L2 or DRAM; none without "
         "--set explain; low: 0",
     .ignores = "stacks of real calls; textures and atomics count as local",
     .next = "--metrics auto --set explain; cuobjdump --dump-resource-usage",
     .min_instances = 1,
     .look = at_each_kernel<look_at_local_memory>},
    {.name = "remote_memory",
     .group = rule_group::kernel,
     .needs = data::kernels | data::peaks | data::explain,
     .question = "Do kernels read the host's or another GPU's memory?",
     .fires_at = "bytes over the link at its measured rate make 0.2 of the kernel's time",
     .gain = "high: that time less the same bytes from DRAM; low: half",
     .ignores = "that the first touch has to move them anyway",
     .next = "--trace um shows migrations",
     .min_instances = 1,
     .look = at_each_kernel<look_at_remote_memory>},
    {.name = "low_occupancy",
     .group = rule_group::kernel,
     .needs = with_counters,
     .question = "Are there too few warps to hide latency?",
     .fires_at = "theoretical occupancy below 0.5, no roof and no tensor core at 0.4, warps mostly "
                 "wait for data or the instruction before: good kernels with few warps do not; "
                 "without --set explain not for products and attention, whose few warps are design",
     .gain = "high: time x (1 - max(occupancy / that without its limiter, share / 0.8)); low: half "
             "of the same with one block more, without --set explain 0",
     .ignores = "spills from fewer registers",
     .next = "--metrics auto --set explain counts what warps wait for; compile with -Xptxas -v",
     .min_instances = 1,
     .look = at_each_kernel<look_at_occupancy>},
    {.name = "small_grid",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Are there fewer blocks than SMs?",
     .fires_at = "that, with nothing beside it, 5 us a launch and 2 % of the window",
     .gain = "high: time x (1 - blocks / SMs); low: 0",
     .ignores = "work that cannot be divided",
     .next = "gpuprof roofline --by signature",
     .min_instances = 1,
     .look = at_each_kernel<look_at_small_grid>},
    {.name = "tail",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Does a last wave of few blocks hold the others up?",
     .fires_at = "a tenth of the SM time of all waves idle in the last (fewer than 9 waves); with "
                 "--set explain only where idle SMs confirm half of it",
     .gain = "high: time x idle part x 1.1; low: half of the counted idle SM time, else 0",
     .ignores = "blocks of unequal length; kernels of one wave have no tail",
     .next = "--metrics auto --set explain counts idle SMs",
     .min_instances = 1,
     .look = at_each_kernel<look_at_tail>},
    {.name = "block_size",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Are blocks no multiple of 32 threads?",
     .fires_at = "any, for the lanes of the last warp do nothing",
     .gain = "high: time x idle lanes x share of the roof; low: 0",
     .ignores = "whether arithmetic holds the kernel",
     .next = "gpuprof roofline --by signature",
     .min_instances = 1,
     .look = at_each_kernel<look_at_block_size>},
    {.name = "divergence",
     .group = rule_group::kernel,
     .needs = data::kernels | data::explain,
     .question = "Do threads of a warp take different branches?",
     .fires_at = "below 24 threads an instruction (as Nsight Compute), issue slots 0.4 used",
     .gain = "high: time x (1 - threads / 32) x issue use; low: half",
     .ignores = "what holds the kernel beside issuing",
     .next = "group the work by the branch that it takes",
     .min_instances = 1,
     .look = at_each_kernel<look_at_divergence>},
    {.name = "imbalance",
     .group = rule_group::kernel,
     .needs = data::kernels | data::explain,
     .question = "Do SMs wait for the one that is last?",
     .fires_at = "5 % of the SM time idle, with nothing beside it and no other cause found",
     .gain = "high: time x (1 - mean / greatest active cycles); low: half",
     .ignores = "what makes blocks unequal",
     .next = "measure the work of each block",
     .min_instances = 1,
     .look = at_each_kernel<look_at_imbalance>},
    {.name = "stalls",
     .group = rule_group::kernel,
     .needs = explained,
     .question = "What do warps wait for where no unit is busy?",
     .fires_at = "issue slots below 0.6 used, no roof and no tensor core at 0.4 (warp-specialized "
                 "kernels wait by design), one reason above 0.3 of the waiting, no cause found",
     .gain = "high: time x min(1 - issue use, share of the reason), at most the distance to the "
             "roof; low: 0",
     .ignores = "which instruction waits",
     .next = "a profiler that samples instructions",
     .min_instances = 1,
     .look = at_each_kernel<look_at_stalls>},
    {.name = "below_roof",
     .group = rule_group::kernel,
     .needs = with_counters,
     .question = "Are kernels far from what the GPU can do, for no reason that is known?",
     .fires_at = "below 0.7 of the highest roof (libraries reach 0.81 to 0.87) and of the issue "
                 "slots, 2 % of the window, 5 us a launch; attention in one kernel: half of that, "
                 "for its exponentials",
     .gain = "high: time x (1 - the nearer of the two / 0.8); low: 0",
     .ignores = "kernels that cannot get there",
     .next = "--metrics auto --set explain",
     .min_instances = 1,
     .look = at_each_kernel<look_at_distance_to_roof>},
    {.name = "clock_loss",
     .group = rule_group::kernel,
     .needs = data::kernels | data::clocks,
     .question = "Are clocks of the SMs down?",
     .fires_at =
         "below 0.95 of the greatest in kernels that SMs hold; a warning where no kernel of "
         "that GPU runs faster, also those that draw little power, or where NVML names heat in a "
         "tenth of the moments",
     .gain = "high: time x loss, none where load alone draws the power; low: 0",
     .ignores = "a power limit that others on the board use up",
     .next = "nvidia-smi -q -d PERFORMANCE,CLOCK",
     .look = look_at_clocks},
    {.name = "dram_bound",
     .group = rule_group::kernel,
     .needs = with_counters,
     .question = "Which kernels are as fast as DRAM?",
     .fires_at = "0.8 of the measured DRAM rate: such kernels need fewer bytes, not more speed",
     .gain = "none in time",
     .ignores = "which neighbors could be fused",
     .next = "gpuprof roofline",
     .look = look_at_full_dram},
    {.name = "small_batch",
     .group = rule_group::kernel,
     .needs = with_counters,
     .question = "Do products wait for their weights?",
     .fires_at = "tensor-core kernels at 0.7 of the DRAM roof with less than a quarter of the FLOP "
                 "per byte at the ridge, 20 % of the time",
     .gain = "none in time: a larger batch in the same time",
     .ignores = "memory and convergence",
     .next = "gpuprof roofline, over several batch sizes",
     .look = look_at_small_batch},
};

}  // namespace

std::span<rule const> kernel_rules() noexcept {
  return kernel_table;
}

}  // namespace gpuprof::host::advice
