// SPDX-License-Identifier: Apache-2.0
// What feeds the steps: loading of data, steps that differ in length.
#include "advise/rule.hpp"
#include "advise/rules/idle_sum.hpp"
#include "advise/rules/measured_rates.hpp"
#include "advise/rules/words.hpp"
#include "advise/step_bound.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::advise {
namespace {

constexpr double uneven = 1.2;  // 95th percentile / median
constexpr double slow_share = 0.05;
constexpr std::size_t min_steps = 10;

void look_at_loading(run_facts const& facts, std::vector<finding>& found) {
  auto const idle =
      idle_of(facts, [](auto const& gap) { return gap.cause == time_bucket::data_loading; });
  if (!idle.any()) return;
  auto const bound = bound_of(facts);
  auto const gpus = static_cast<double>(std::max<std::size_t>(1, facts.devices.size()));
  auto const loading = std::max(gpus * facts.steps.loading_ns, idle.idle_ns);
  auto const by_one = bound.saved_by({.host_ns = loading, .other_ns = loading});
  finding one;
  one.what = "the GPU idles while the program loads data";
  one.range = majority(idle.by_range);
  one.instances = idle.count;
  one.bucket = time_bucket::data_loading;
  one.gain = bound.gain(idle.idle_ns, std::max(idle.sure_ns, by_one), {.host_ns = loading});
  one.because = {{"idle", 100 * share_of_window(facts, idle.idle_ns), "% of the window", "traced"},
                 {"mean gap", idle.idle_ns / static_cast<double>(idle.count), "ns", "traced"}};
  one.to_do =
      "Load the next batch while the GPU works on this one: DataLoader(num_workers=4 or "
      "more, prefetch_factor, persistent_workers=True, pin_memory=True), or a thread and a "
      "queue; decode and augment on the GPU or beforehand.";
  one.arithmetic = "low: one worker beside the loop, which loads for " + in_time(loading) +
                   " in the time of GPU (" + in_time(bound.gpu_ns()) +
                   ") and launching thread; high: as many as it takes";
  found.push_back(std::move(one));
}

double quantile(std::vector<double> const& sorted, double share) {
  auto const at = std::lround(share * static_cast<double>(sorted.size() - 1));
  return sorted[static_cast<std::size_t>(at)];
}

/// In which slow steps differ most from the others; nothing: not known.
std::optional<time_bucket> cause_of_slow(step_facts const& steps) {
  std::optional<time_bucket> cause;
  double most = 0;
  for (std::size_t i = 0; i < time_bucket_count; ++i) {
    auto const bucket = static_cast<time_bucket>(i);
    auto const more = steps.slow[bucket] - steps.usual[bucket];
    if (more <= most) continue;
    most = more;
    cause = bucket;
  }
  return cause;
}

/// 0: not known.
double median_on_gpu(step_facts const& steps) {
  if (steps.gpu_ns.size() < 2) return 0;
  std::vector<double> sorted(steps.gpu_ns.begin() + 1, steps.gpu_ns.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile(sorted, 0.5);
}

void look_at_evenness(run_facts const& facts, std::vector<finding>& found) {
  auto const& steps = facts.steps;
  if (steps.period_ns.size() < min_steps) return;
  std::vector<double> const steady(steps.period_ns.begin() + 1, steps.period_ns.end());
  auto sorted = steady;
  std::sort(sorted.begin(), sorted.end());
  auto const median = quantile(sorted, 0.5), slow = quantile(sorted, 1 - slow_share);
  if (median <= 0 || slow <= uneven * median) return;
  double more = 0;
  std::uint64_t count = 0;
  auto const usual = median_on_gpu(steps);
  auto const gpus = static_cast<double>(std::max<std::size_t>(1, facts.devices.size()));
  for (std::size_t i = 1; i < steps.period_ns.size(); ++i) {
    if (steps.period_ns[i] <= uneven * median) continue;
    // The thread may run ahead and be held up now and then, while the GPU's steps are even.
    auto const on_gpu = i < steps.gpu_ns.size() ? steps.gpu_ns[i] : 0;
    if (usual > 0 && on_gpu <= uneven * usual) continue;
    auto const longer = gpus * (steps.period_ns[i] - median);
    more += usual > 0 ? std::min(longer, on_gpu - usual) : longer;
    ++count;
  }
  if (static_cast<double>(count) <= slow_share * static_cast<double>(steady.size())) return;
  auto const cause = cause_of_slow(steps);
  finding one;
  one.what = in_count(static_cast<double>(count)) + " of " +
             in_count(static_cast<double>(steady.size())) +
             " steps take longer than 1.2 times "
             "the median";
  if (cause) one.what += "; the difference is mostly " + std::string(name_of(*cause));
  one.range = steps.name;
  one.instances = count;
  one.bucket = cause.value_or(time_bucket::cpu_work);
  one.gain = {0, more};
  one.yields_to = every_other_rule;  // it says where to look, the others say why
  one.because = {{"95th percentile", slow, "ns", "traced"},
                 {"median step", median, "ns", "traced"}};
  one.to_do =
      "Look at one of the slow steps in a timeline (gpuprof export) beside its neighbour. "
      "Usual reasons: batches of other shapes, a loader that falls behind, logging or "
      "saving each n steps, garbage collection (gc.freeze()), other jobs on the machine.";
  one.arithmetic = "the sum of step - median step of " + in_time(median) + " over the slow ones";
  found.push_back(std::move(one));
}

constexpr rule rules[] = {
    {.name = "data_loading",
     .group = rule_group::input,
     .needs = data::kernels | data::ranges,
     .question = "Does the GPU wait for data?",
     .fires_at = "idle time while the launching thread is in a range that loads data",
     .gain = "low: P - max(B + n x pause, C - loading, loading), one worker beside the loop; high: "
             "the idle time, at most P - max(B + n x pause, C - loading)",
     .ignores = "disks and CPU cores that workers share",
     .next = "an NVTX range around next(loader), with \"data\" or \"load\" in its name",
     .look = look_at_loading},
    {.name = "uneven_steps",
     .group = rule_group::input,
     .needs = data::kernels | data::steps,
     .question = "Do some steps take much longer than others?",
     .fires_at =
         "95th percentile > 1.2 x median of ten steps or more, without the first, on the GPU "
         "as well: runs on one machine differ by up to 7 %",
     .gain =
         "low: 0; high: the sum of step - median over those longer than 1.2 x median, less what "
         "other findings explain",
     .ignores = "steps that have more to do",
     .next = "gpuprof stats -r nvtx_pushpop_trace lists the steps",
     .min_instances = 1,
     .look = look_at_evenness},
};

}  // namespace

std::span<rule const> input_rules() noexcept {
  return rules;
}

}  // namespace gpuprof::advise
