// SPDX-License-Identifier: Apache-2.0
// Rules on launches that one change would save together: each row says what the rule looks for and
// what it cannot know.
#include "host/advice/rule.hpp"
#include "host/advice/rules/group/group_finding.hpp"

namespace gpuprof::host::advice {
namespace {

constexpr rule group_table[] = {
    {.name = "unfused_attention",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do the scores of attention go to memory between two products?",
     .fires_at = "a softmax lies between two products of a stream, with nothing but elementwise "
                 "work and moves around it",
     .gain =
         "high: all between the products, and of the products what their FLOP at the peak do not "
         "need (half of them behind a mask, which is taken for a causal one); low: what one kernel "
         "between them would save",
     .ignores = "if the scores are needed",
     .next = "gpuprof lines names the line",
     .look = look_at_attention},
    {.name = "fp64_elementwise",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do elementwise kernels and reductions work on doubles?",
     .fires_at = "the type of the elements in the kernel's name is double",
     .gain = "half of the time: half of the bytes",
     .ignores = "what needs FP64",
     .next = "gpuprof lines names the line",
     .look = look_at_doubles},
    {.name = "fp32_elementwise",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do elementwise kernels work in FP32 where products have 16 bits?",
     .fires_at = "the type of the elements in the kernel's name is float, and a product of the "
                 "steps has BF16 or FP16",
     .gain = "high: half of the time: half of the bytes; low: 0",
     .ignores = "what needs FP32; reductions, losses and optimizers, which mostly do",
     .next = "gpuprof lines names the line",
     .look = look_at_floats},
    {.name = "unfused_optimizer",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Does the optimizer launch kernels for each tensor?",
     .fires_at = "a row of kernels repeats 20 times or more and has addcdiv or lerp in it",
     .gain = "high: one launch, half of the longest kernel of each tensor; low: twice the longest",
     .ignores = "optimizers of one's own without these operations",
     .next = "gpuprof lines names the line",
     .look = look_at_optimizer},
    {.name = "fusible_chain",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do elementwise kernels and reductions run in a row that could be one kernel?",
     .fires_at = "two or more of them follow each other in a stream and a step, without a product, "
                 "a sort, a copy from the host or a wait between them",
     .gain = "high: all but what the first reads and the last writes at the DRAM rate; low: "
             "without the bytes that one writes and the next reads, not across reductions",
     .ignores = "if one reads what the other wrote; other inputs of the row",
     .next = "gpuprof lines names the lines",
     .look = look_at_chains},
    {.name = "layout_conversion",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Are layouts of tensors changed?",
     .fires_at = "kernels that transpose, make contiguous, or convert between NCHW and NHWC",
     .gain = "all of their time; low: 0.8 of it, for what takes their place",
     .ignores = "if the other layout is needed",
     .next = "gpuprof lines names the line",
     .look = look_at_layouts},
    {.name = "repeated_cast",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Are tensors converted to another type in each step?",
     .fires_at = "kernels that only convert",
     .gain = "all of their time; low: 0.8 of it, for what takes their place",
     .ignores = "if the tensor is a new one each time",
     .next = "gpuprof lines names the line",
     .look = look_at_casts},
    {.name = "data_movement",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do kernels only move data?",
     .fires_at = "kernels that concatenate, gather, scatter, fill or copy",
     .gain = "all of their time; low: 0.8 of it, for what takes their place",
     .ignores = "if the move is needed",
     .next = "gpuprof lines names the line",
     .look = look_at_other_moves},
    {.name = "products_in_a_row",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do small products of one shape follow each other?",
     .fires_at = "four or more in a row, of at most 20 us each, which fill less than half of the "
                 "GPU or are shorter than the time from launch to launch",
     .gain =
         "high: all but their FLOP at the measured peak, else all but their time x the share of "
         "the GPU that one fills, and what concatenates their results; low: twice that share",
     .ignores = "products of which one needs the result of the other",
     .next = "gpuprof lines names the line",
     .look = look_at_products_in_a_row},
    {.name = "atomic_adds",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do kernels add by atomics?",
     .fires_at = "names of kernels that scatter with additions",
     .gain = "all of their time; low: 0.8 of it, for what takes their place",
     .ignores = "how many additions go to one address",
     .next = "gpuprof lines names the line",
     .look = look_at_atomics},
    {.name = "work_on_host",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do results go to the host for work that the GPU could do?",
     .fires_at = "copies of 1 MiB or more to the host, in the steps",
     .gain = "the copies and the CPU work from their end to the next launch; low: 0.8 of that",
     .ignores = "if the host needs the data",
     .next = "gpuprof lines names the line",
     .look = look_at_copies_to_host},
    {.name = "boolean_mask",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Are elements selected by a mask?",
     .fires_at = "kernels that list the positions of what is not zero",
     .gain = "the selection, the copies of its line, the additions of their gradients; "
             "low: 0.8 of that",
     .ignores = "if fewer elements save more work than the selection costs",
     .next = "gpuprof lines names the line",
     .look = look_at_masks},
    {.name = "library_tuning",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Does a library try its kernels inside of the steps?",
     .fires_at =
         "four or more different convolution kernels run one after the other, some of them twice, "
         "with only fills between them; ten or more launches of a kernel, each behind a fill of "
         "20 us (Triton); kernels that XLA and Inductor have only for it",
     .gain = "high: all but the fastest, with the CPU work before them; low: all but the fastest",
     .ignores = "tuning before the steps: --all, and kinds of work, show it",
     .next = "gpuprof lines names the line",
     .look = look_at_tuning},
    {.name = "padded_batch",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do steps work on padding?",
     .fires_at =
         "a tensor is filled, then come eight copies or more on the GPU that fill less than 0.6 "
         "of as many rows as long as the longest",
     .gain = "of all behind them in the step, the share of padding; low: 0.8 of that",
     .ignores = "padding on the host; work that skips the padding",
     .next = "gpuprof lines names the line",
     .look = look_at_padding},
    {.name = "sort_in_step",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Does the GPU sort in each step?",
     .fires_at = "kernels that sort",
     .gain = "all of their time; low: 0.8 of it, for what takes their place",
     .ignores = "if the order is needed",
     .next = "gpuprof lines names the line",
     .look = look_at_sorts},
};

}  // namespace

std::span<rule const> group_rules() noexcept {
  return group_table;
}

}  // namespace gpuprof::host::advice
