// SPDX-License-Identifier: Apache-2.0
// Rules on arithmetic that could run in fewer or shorter kernels: rows, attention, optimizers,
// small products, trials of a library, doubles.
#include "host/advice/rules/group/group_finding.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>

namespace gpuprof::host::advice {
namespace {

constexpr double of_its_own = 0.01;  // of the GPU time of the steps; smaller groups are joined

/// " (softmax_warp_forward, elementwise_kernel, ...)": those with the most time.
std::string names_of(work_group const& group) {
  constexpr std::size_t shown = 2;
  std::string text;
  constexpr std::size_t longest = 60;
  for (std::size_t i = 0; i < std::min(shown, group.kernels.size()); ++i) {
    auto const& name = group.kernels[i];
    text +=
        (i == 0 ? " (" : ", ") + (name.size() > longest ? name.substr(0, longest) + "..." : name);
  }
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
         in_time_of_step(facts, group.total_ns) +
         "; at least: without the bytes that one writes and the next reads, not across "
         "reductions, at 0.8 of that rate, " +
         in_time(per_step(facts, group.sure_ns));
}

finding finding_on_chain(run_facts const& facts, work_group const& group) {
  auto one = finding_on(facts, group,
                        row_of(group) + " could be one, " +
                            how_often(facts, static_cast<double>(group.instances)) +
                            ": each writes to memory what the next one reads");
  one.to_do =
      "Fuse them: torch.compile, one jax.jit around them, a library's operation for the whole "
      "(F.layer_norm, F.rms_norm, F.gelu), or a Triton kernel.";
  one.arithmetic = arithmetic_of_chain(facts, group);
  one.within_ns = time_of_launches(facts, group);
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

}  // namespace

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
  one.line = one.module = {};
  found.push_back(std::move(one));
}

void look_at_attention(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::attention, found, [&](work_group const& group) {
    auto one = finding_on(facts, group,
                          "attention is computed in pieces, " +
                              how_often(facts, static_cast<double>(group.instances)) +
                              ": the scores between two products go to memory and back");
    one.to_do =
        "Use fused attention: F.scaled_dot_product_attention, jax.nn.dot_product_attention, "
        "flash-attention. It keeps the scores on the SM.";
    one.arithmetic = "at best of the " + in_time_of_step(facts, group.total_ns) +
                     " behind the first product only the FLOP of the second remain (half of them "
                     "behind a mask, which is taken for a causal one); at least: as for a row of "
                     "kernels that becomes one, " +
                     in_time(per_step(facts, group.total_ns - group.sure_ns));
    one.changes_results = true;
    return one;
  });
}

void look_at_tuning(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::tuning, found, [&](work_group const& group) {
    auto const library = group.does.empty() ? std::string("cuDNN") : group.does.front();
    auto one = finding_on(
        facts, group,
        library + " tries its kernels" + (facts.are_stretches ? ", " : " inside of the steps, ") +
            how_often(facts, static_cast<double>(group.instances)) + ": " +
            in_count(static_cast<double>(group.launches) / static_cast<double>(group.instances)) +
            " launches" + names_of(group));
    one.to_do =
        library == "cuDNN"
            ? "Keep the sizes of the inputs the same (pad to a few sizes), or turn benchmarking "
              "off: torch.backends.cudnn.benchmark = False."
            : "Keep the sizes of the inputs the same (pad to a few sizes): a new size is tuned "
              "anew. Leave sizes out of key= of triton.autotune, compile with dynamic=True, and "
              "keep the cache of the library between runs.";
    one.arithmetic = "all of them but the fastest, " + in_time_of_step(facts, group.total_ns) +
                     ", and at best the CPU work before them";
    return one;
  });
}

void look_at_products_in_a_row(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::products, found, [&](work_group const& group) {
    auto const each = group.launches / group.instances;
    auto one =
        finding_on(facts, group,
                   in_count(static_cast<double>(each)) + " products of one shape run in a row, " +
                       how_often(facts, static_cast<double>(group.instances)) +
                       ", each too small for the GPU");
    one.to_do =
        "Make them one product: concatenate the weights once, or batch them (torch.bmm, vmap, "
        "grouped GEMM).";
    one.arithmetic =
        "at best: their FLOP at the measured peak, else their time x the share of the "
        "GPU that one fills, " +
        in_time_of_step(facts, group.least_ns) + "; at least: twice that share";
    return one;
  });
}

void look_at_doubles(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::doubles, found, [&](work_group const& group) {
    auto one = finding_on(facts, group,
                          "launches compute on doubles (FP64), " +
                              how_often(facts, static_cast<double>(group.launches)));
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

void look_at_floats(run_facts const& facts, std::vector<finding>& found) {
  at_groups(facts, group_pattern::floats, found, [&](work_group const& group) {
    auto one = finding_on(facts, group,
                          "elementwise launches compute in FP32, " +
                              how_often(facts, static_cast<double>(group.launches)) +
                              ", beside products of 16 bits");
    one.repairs = {{.kind = replay::repair_kind::scale,
                    .at_best = 0.5,
                    .is_only_at_best = true,
                    .items = group.all}};
    one.to_do =
        "If the results allow it, keep them in the type of the products: one factor, mask or "
        "table of FP32 makes what follows FP32 (x * scale.to(x.dtype)).";
    one.condition = "the results allow 16 bits";
    one.arithmetic = "at best half of their time, for half of the bytes";
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
            " kernels " + (facts.are_stretches ? "each time" : "a step") +
            ", some for each tensor");
    one.to_do = "Use the fused optimizer (fused=True), or foreach=True.";
    one.arithmetic =
        "at best: one launch that takes half of the longest kernel of each tensor; at least: twice "
        "the longest";
    one.changes_results = true;
    return one;
  });
}

}  // namespace gpuprof::host::advice
