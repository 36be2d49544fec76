// SPDX-License-Identifier: Apache-2.0
// Rules on launches that one change would save together: neighbors that could be one kernel, moves,
// small products in a row, sorts, FP64 arithmetic.
#include "host/advice/rule.hpp"
#include "host/advice/rules/idle_sum.hpp"
#include "host/advice/wording.hpp"
#include "host/advice/work_groups.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace gpuprof::host::advice {
namespace {

constexpr double of_its_own = 0.01;  // of the GPU time of the steps; smaller groups are joined

double per_step(run_facts const& facts, double of_all) {
  return of_all / std::max(1.0, facts.steps_of_groups);
}

std::string times_a_step(run_facts const& facts, double instances) {
  auto const times = per_step(facts, instances);
  return times >= 1.5 ? in_count(std::max(1.0, times)) + " times a step" : "in each step";
}

/// Factor from the recorded steps to all steps that the advice is about.
double steps_per_recorded(run_facts const& facts) {
  return facts.all_steps_of_groups / std::max(1.0, facts.steps_of_groups);
}

/// All launches but one of each instance go; that one takes the time of the work that remains.
void state_repairs(work_group const& group, finding& one) {
  auto gone = group.all;
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (group.kept[i]) gone[i] = false;
  if (std::find(gone.begin(), gone.end(), true) != gone.end())
    one.repairs.push_back({.kind = replay::repair_kind::drop,
                           .at_best = group.is_prepared ? 1.0 : 0.0,
                           .items = std::move(gone)});
  if (group.kept_ns > 0)
    one.repairs.push_back({.kind = replay::repair_kind::scale,
                           .sure = group.sure_ns / group.kept_ns,
                           .at_best = group.least_ns / group.kept_ns,
                           .items = group.kept});
  if (group.beside_ns > 0 && group.beside_least_ns < group.beside_ns)
    one.repairs.push_back({.kind = replay::repair_kind::scale,
                           .sure = 1,
                           .at_best = group.beside_least_ns / group.beside_ns,
                           .items = group.beside});
}

finding finding_on(run_facts const& facts, work_group const& group, std::string what) {
  finding one;
  one.what = std::move(what);
  one.line = group.line;
  one.instances = group.instances;
  one.bucket = time_bucket::compute;
  one.further_buckets = {time_bucket::back_to_back, time_bucket::launch_bound};
  auto const factor = steps_per_recorded(facts);
  one.gain = {factor * std::max(0.0, group.total_ns - group.sure_ns),
              factor * std::max(0.0, group.total_ns - group.least_ns)};
  one.within_ns = factor * (group.total_ns + group.beside_ns) + idle_of_gpus(facts);
  one.family = "group " + std::to_string(group.number);
  one.because = {{"GPU time a step", per_step(facts, group.total_ns), "ns", "traced"},
                 {"launches a step", per_step(facts, double(group.launches)), "", "traced"}};
  state_repairs(group, one);
  return one;
}

/// " (softmax_warp_forward, elementwise_kernel, ...)": those with the most time.
std::string names_of(work_group const& group) {
  constexpr std::size_t shown = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, group.kernels.size()); ++i)
    text += (i == 0 ? " (" : ", ") + group.kernels[i];
  if (text.empty()) return text;
  return text + (group.kernels.size() > shown ? ", ...)" : ")");
}

/// "9 kernels in a row" of a group whose instances have the same launches.
std::string row_of(work_group const& group) {
  return in_count(static_cast<double>(group.launches) / static_cast<double>(group.instances)) +
         " kernels in a row" + names_of(group);
}

std::string arithmetic_of_chain(run_facts const& facts, work_group const& group) {
  return std::string(group.has_bytes ? "at best: what the first reads and the last writes, at the "
                                       "measured DRAM rate"
                                     : "at best: half of the first and half of the last launch, as "
                                       "no bytes are known") +
         ", " + in_time(per_step(facts, group.least_ns)) + " of " +
         in_time(per_step(facts, group.total_ns)) +
         " a step; surely: without the bytes that one writes and the next reads, not across "
         "reductions, at 0.8 of that rate, " +
         in_time(per_step(facts, group.sure_ns));
}

finding finding_on_chain(run_facts const& facts, work_group const& group) {
  auto one = finding_on(facts, group,
                        row_of(group) + " could be one, " +
                            times_a_step(facts, static_cast<double>(group.instances)) +
                            ": each writes to memory what the next one reads");
  one.to_do =
      "Fuse them: torch.compile, one jax.jit around them, a library's operation for the whole "
      "(F.layer_norm, F.rms_norm, F.gelu), or a Triton kernel.";
  one.arithmetic = arithmetic_of_chain(facts, group);
  one.changes_results = true;
  one.yields_to = "fp64_elementwise";
  return one;
}

work_group sum_of(std::vector<work_group const*> const& small) {
  auto sum = *small.front();
  for (auto const* const one : small) {
    if (one == small.front()) continue;
    sum.launches += one->launches;
    sum.instances += one->instances;
    sum.total_ns += one->total_ns;
    sum.least_ns += one->least_ns;
    sum.sure_ns += one->sure_ns;
    sum.kept_ns += one->kept_ns;
    for (std::size_t i = 0; i < sum.all.size(); ++i) {
      if (one->all[i]) sum.all[i] = true;
      if (one->kept[i]) sum.kept[i] = true;
    }
  }
  return sum;
}

double gpu_time(run_facts const& facts) {
  double ns = 0;
  for (auto const& kernel : facts.kernels) ns += kernel.total_ns;
  return ns / steps_per_recorded(facts);
}

template <class Say>
void at_groups(run_facts const& facts, group_pattern pattern, std::vector<finding>& found,
               Say const& say) {
  for (auto const& group : facts.groups)
    if (group.pattern == pattern && group.launches > 0) found.push_back(say(group));
}

void look_at_chains(run_facts const& facts, std::vector<finding>& found) {
  std::vector<work_group const*> small;
  auto const limit = of_its_own * gpu_time(facts);
  for (auto const& group : facts.groups) {
    if (group.pattern != group_pattern::chain || group.launches == group.instances) continue;
    if (group.total_ns - group.least_ns < limit)
      small.push_back(&group);
    else
      found.push_back(finding_on_chain(facts, group));
  }
  if (small.size() < 2) return;
  auto one = finding_on_chain(facts, sum_of(small));
  one.what = in_count(double(small.size())) +
             " further rows of elementwise kernels and reductions could be one kernel each";
  one.line = {};
  found.push_back(std::move(one));
}

void look_at_attention(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::attention, found, [&](work_group const& group) {
    auto one = finding_on(facts, group,
                          "attention is computed in pieces, " +
                              times_a_step(facts, static_cast<double>(group.instances)) +
                              ": the scores between two products go to memory and back");
    one.to_do =
        "Use fused attention: F.scaled_dot_product_attention, jax.nn.dot_product_attention, "
        "flash-attention. It keeps the scores on the SM.";
    one.arithmetic = "at best all of the " + in_time(per_step(facts, group.total_ns)) +
                     " a step between the products goes, and the products take the time of their "
                     "FLOP; surely: as for a row of kernels that "
                     "becomes one, " +
                     in_time(per_step(facts, group.total_ns - group.sure_ns));
    one.changes_results = true;
    return one;
  });
}

struct move_advice {
  std::string_view does, rule, to_do;
};

constexpr move_advice moves[] = {
    {"changes the layout of tensors", "layout_conversion",
     "Keep one layout: channels_last for convolutions; products take transposed views, without "
     ".contiguous()."},
    {"converts types", "repeated_cast",
     "Convert once, where the tensor is kept: weights in the type that computes "
     "(model.bfloat16()), inputs when they are loaded."},
    {"concatenates tensors", "data_movement",
     "Allocate once at full size and write into views (a static cache), or hand over the list."},
    {"gathers elements", "data_movement",
     "Indices of neighbors are a slice, which is a view; a mask can be a weight, ignore_index or "
     "torch.where."},
    {"scatters elements", "data_movement",
     "Sort or group once where the indices stay the same; use slices."},
    {"fills tensors", "data_movement",
     "Allocate without filling (torch.empty) where all is written, and set gradients to None."},
    {"copies tensors", "data_movement", "Use views, operations in place, or out= arguments."},
};

std::string joined(std::vector<std::string> const& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

/// All of the launches go, at best.
work_group without_remainder(work_group group) {
  group.kept.assign(group.all.size(), false);
  group.kept_ns = group.least_ns = group.sure_ns = 0;
  return group;
}

/// What goes with moves: their own time, a launch for each, and the memory for what they make. The
/// CPU work before them may have other reasons.
double time_of_moves(run_facts const& facts, work_group const& group) {
  auto const launching = facts.run.launch_distance + facts.run.back_to_back;
  auto const own = group.total_ns + static_cast<double>(group.launches) * launching;
  double allocating = 0;
  if (group.is_prepared)
    for (auto const& device : facts.devices) allocating += device.ledger[time_bucket::allocation];
  return steps_per_recorded(facts) * own + allocating;
}

void look_at_moves(run_facts const& facts, std::string_view rule, std::vector<finding>& found) {
  for (auto const& group : facts.groups) {
    if (group.pattern != group_pattern::moves || group.does.empty()) continue;
    auto const of = std::find_if(std::begin(moves), std::end(moves),
                                 [&](auto const& one) { return one.does == group.does.front(); });
    if (of == std::end(moves) || of->rule != rule) continue;
    auto one = finding_on(facts, without_remainder(group),
                          "the GPU " + joined(group.does) + ", " +
                              times_a_step(facts, static_cast<double>(group.launches)) +
                              ", and computes nothing there");
    one.to_do = of->to_do;
    one.is_at_best = true;
    one.within_ns = time_of_moves(facts, group);
    one.arithmetic = "all of their time, at best: if the moves are needed is not in a capture";
    found.push_back(std::move(one));
  }
}

void look_at_layouts(run_facts const& facts, std::vector<finding>& found) {
  look_at_moves(facts, "layout_conversion", found);
}
void look_at_casts(run_facts const& facts, std::vector<finding>& found) {
  look_at_moves(facts, "repeated_cast", found);
}
void look_at_other_moves(run_facts const& facts, std::vector<finding>& found) {
  look_at_moves(facts, "data_movement", found);
}

void look_at_atomics(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::atomics, found, [&](work_group const& group) {
    auto one =
        finding_on(facts, without_remainder(group),
                   "atomic additions, " + times_a_step(facts, static_cast<double>(group.launches)) +
                       ": those to one address wait for each other");
    one.to_do =
        "Where many values go to few sums, add them up first: one masked sum for each group, "
        "bincount, a product with a one-hot matrix, or a sort and a segmented sum.";
    one.is_at_best = true;
    one.arithmetic = "all of their time, at best: how many of them collide was not counted";
    one.changes_results = true;
    return one;
  });
}

void look_at_copies_to_host(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::to_host, found, [&](work_group const& group) {
    auto one = finding_on(facts, without_remainder(group),
                          in_data(per_step(facts, group.bytes)) + " go to the host in each step");
    one.repairs.front().kind = replay::repair_kind::drop_and_use;
    one.bucket = time_bucket::transfer;
    one.is_at_best = true;
    one.further_buckets = {time_bucket::cpu_work, time_bucket::synchronization,
                           time_bucket::between_steps};
    one.to_do =
        "Compute it on the GPU (argmax, topk, sum, comparisons) and copy the small result; else "
        "copy to pinned memory with non_blocking=True and use it a step later.";
    one.arithmetic = "at best the copies and the CPU work behind them go";
    return one;
  });
}

void look_at_masks(run_facts const& facts, std::vector<finding>& found) {
  auto has_backward = false;  // it belongs to the first, with the most time
  for (auto const& group : facts.groups) {
    if (group.pattern != group_pattern::mask) continue;
    auto all = group;
    for (auto const& other : facts.groups) {
      auto const is_copy_of_rows =
          other.pattern == group_pattern::moves && !group.line.empty() && other.line == group.line;
      auto const is_backward = !has_backward && other.pattern == group_pattern::atomics &&
                               !other.kernels.empty() &&
                               other.kernels.front().find("indexing_backward") != std::string::npos;
      if (!is_copy_of_rows && !is_backward) continue;
      all.total_ns += other.total_ns;
      for (std::size_t i = 0; i < all.all.size(); ++i)
        if (other.all[i]) all.all[i] = true;
    }
    has_backward = true;
    auto one = finding_on(facts, without_remainder(std::move(all)),
                          "elements are selected by a mask or nonzero: the program waits for their "
                          "number, and they are copied");
    one.to_do =
        "Keep all elements and give those outside of the mask no weight: ignore_index, "
        "torch.where, a product with the mask.";
    one.is_at_best = true;
    one.arithmetic =
        "at best the selection goes, with the copies of its line and the additions of their "
        "gradients";
    found.push_back(std::move(one));
  }
}

void look_at_tuning(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::tuning, found, [&](work_group const& group) {
    auto one = finding_on(facts, group,
                          "a library tries its kernels inside of the steps, " +
                              times_a_step(facts, static_cast<double>(group.instances)) + ": " +
                              in_count(static_cast<double>(group.kernels.size())) +
                              " different ones for one convolution");
    one.to_do =
        "Keep the sizes of the inputs the same (pad to a few sizes), or turn benchmarking off: "
        "torch.backends.cudnn.benchmark = False.";
    one.arithmetic = "all of them but the fastest, " + in_time(per_step(facts, group.total_ns)) +
                     " a step, and at best the CPU work before them";
    return one;
  });
}

void look_at_products_in_a_row(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::products, found, [&](work_group const& group) {
    auto const each = group.launches / group.instances;
    auto one =
        finding_on(facts, group,
                   in_count(static_cast<double>(each)) + " products of one shape run in a row, " +
                       times_a_step(facts, static_cast<double>(group.instances)) +
                       ", each too small for the GPU");
    one.to_do =
        "Make them one product: concatenate the weights once, or batch them (torch.bmm, vmap, "
        "grouped GEMM).";
    one.arithmetic =
        "at best: their FLOP at the measured peak, else their time x the share of the "
        "GPU that one fills, " +
        in_time(per_step(facts, group.least_ns)) + " a step; surely: twice that share";
    return one;
  });
}

void look_at_sorts(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& group : facts.groups) {
    if (group.pattern != group_pattern::sort) continue;
    auto one = finding_on(facts, without_remainder(group), "the GPU sorts in each step");
    one.to_do =
        "Use topk or kthvalue if only the best values are needed, argmax for one; sort by a key "
        "of fewer bits; sort once where the order stays.";
    one.is_at_best = true;
    one.arithmetic = "all of their time, at best: if the order is needed is not in a capture";
    found.push_back(std::move(one));
  }
}

void look_at_doubles(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::doubles, found, [&](work_group const& group) {
    auto one = finding_on(facts, group,
                          in_count(per_step(facts, static_cast<double>(group.launches))) +
                              " launches a step compute on doubles (FP64)");
    one.repairs = {
        {.kind = replay::repair_kind::scale, .sure = 0.5, .at_best = 0.5, .items = group.all}};
    one.to_do =
        "Convert to FP32: arrays of NumPy are float64 by default (torch.from_numpy(a).float()), "
        "and one such tensor makes all that follows FP64.";
    one.arithmetic = "half of their time, for half of the bytes";
    one.changes_results = true;
    return one;
  });
}

void look_at_optimizer(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::optimizer, found, [&](work_group const& group) {
    auto one = finding_on(
        facts, group,
        "the optimizer launches " +
            in_count(static_cast<double>(group.launches) / static_cast<double>(group.instances)) +
            " kernels a step, some for each tensor");
    one.to_do = "Use the fused optimizer (fused=True), or foreach=True.";
    one.arithmetic =
        "at best: one launch that takes half of the longest kernel of each tensor; surely: twice "
        "the longest";
    one.changes_results = true;
    return one;
  });
}

constexpr rule group_table[] = {
    {.name = "unfused_attention",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do the scores of attention go to memory between two products?",
     .fires_at = "a softmax lies between two products of a stream, with nothing but elementwise "
                 "work and moves around it",
     .gain =
         "high: all between the products, and of the products what their FLOP at the peak do not "
         "need; low: what one kernel between them would save",
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
     .gain = "high: all of their time; low: 0",
     .ignores = "if the other layout is needed",
     .next = "gpuprof lines names the line",
     .look = look_at_layouts},
    {.name = "repeated_cast",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Are tensors converted to another type in each step?",
     .fires_at = "kernels that only convert",
     .gain = "high: all of their time; low: 0",
     .ignores = "if the tensor is a new one each time",
     .next = "gpuprof lines names the line",
     .look = look_at_casts},
    {.name = "data_movement",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do kernels only move data?",
     .fires_at = "kernels that concatenate, gather, scatter, fill or copy",
     .gain = "high: all of their time; low: 0",
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
         "the GPU that one fills; low: twice that share",
     .ignores = "products of which one needs the result of the other",
     .next = "gpuprof lines names the line",
     .look = look_at_products_in_a_row},
    {.name = "atomic_adds",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do kernels add by atomics?",
     .fires_at = "names of kernels that scatter with additions",
     .gain = "high: all of their time; low: 0",
     .ignores = "how many additions go to one address",
     .next = "gpuprof lines names the line",
     .look = look_at_atomics},
    {.name = "work_on_host",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Do results go to the host for work that the GPU could do?",
     .fires_at = "copies of 1 MiB or more to the host, in the steps",
     .gain = "high: the copies and the CPU work from their end to the next launch; low: 0",
     .ignores = "if the host needs the data",
     .next = "gpuprof lines names the line",
     .look = look_at_copies_to_host},
    {.name = "boolean_mask",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Are elements selected by a mask?",
     .fires_at = "kernels that list the positions of what is not zero",
     .gain = "high: the selection, the copies of its line, the additions of their gradients; "
             "low: 0",
     .ignores = "if fewer elements save more work than the selection costs",
     .next = "gpuprof lines names the line",
     .look = look_at_masks},
    {.name = "library_tuning",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Does a library try its kernels inside of the steps?",
     .fires_at = "four or more different convolution kernels run one after the other, some of them "
                 "twice, with only fills between them",
     .gain = "high: all but the fastest, with the CPU work before them; low: all but the fastest",
     .ignores = "other libraries than cuDNN",
     .next = "gpuprof lines names the line",
     .look = look_at_tuning},
    {.name = "sort_in_step",
     .group = rule_group::kernel,
     .needs = data::kernels,
     .question = "Does the GPU sort in each step?",
     .fires_at = "kernels that sort",
     .gain = "high: all of their time; low: 0",
     .ignores = "if the order is needed",
     .next = "gpuprof lines names the line",
     .look = look_at_sorts},
};

}  // namespace

std::span<rule const> group_rules() noexcept {
  return group_table;
}

}  // namespace gpuprof::host::advice
