// SPDX-License-Identifier: Apache-2.0
// Rules on the input of steps: data loading, and steps of different length or that grow.
#include "host/advice/rule.hpp"
#include "host/advice/rules/idle_sum.hpp"
#include "host/advice/rules/measured_rates.hpp"
#include "host/advice/step_bound.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::advice {
namespace {

constexpr double slow_share = 0.05;  // of the steps
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
  stated_repair beside{.kind = replay::repair_kind::scale_cpu};
  for (auto const& [range, ns] : idle.by_range)
    if (!range.empty()) beside.names.push_back(range);
  one.repairs = {std::move(beside)};
  one.beside_ns = loading / gpus;
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

/// The bucket in which slow steps differ most from the others. Nothing: not known.
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

struct growth {
  double first_ns = 0, last_ns = 0;  // medians of the first and of the last tenth of the steps
  double above_first_ns = 0;         // what all steps take beyond the first tenth
};

/// How the GPU work of the steps grows: there are 20 of them or more, the last tenth takes 1.2
/// times as long as the first, and four of five pairs of tenths are in order.
std::optional<growth> growth_of(std::vector<double> const& busy_ns) {
  constexpr std::size_t parts = 10;
  constexpr double in_order = 0.8, least_factor = 1.2;
  if (busy_ns.size() < 2 * parts) return std::nullopt;
  std::array<double, parts> medians{};
  for (std::size_t i = 0; i < parts; ++i) {
    std::vector<double> part(busy_ns.begin() + std::ptrdiff_t(i * busy_ns.size() / parts),
                             busy_ns.begin() + std::ptrdiff_t((i + 1) * busy_ns.size() / parts));
    std::nth_element(part.begin(), part.begin() + std::ptrdiff_t(part.size() / 2), part.end());
    medians[i] = part[part.size() / 2];
  }
  std::size_t ordered = 0;
  for (std::size_t i = 0; i < parts; ++i)
    for (auto j = i + 1; j < parts; ++j) ordered += medians[j] > medians[i];
  if (double(ordered) < in_order * parts * (parts - 1) / 2) return std::nullopt;
  growth found{medians.front(), medians.back(), 0};
  if (found.first_ns <= 0 || found.last_ns < least_factor * found.first_ns) return std::nullopt;
  for (auto const ns : busy_ns) found.above_first_ns += std::max(0.0, ns - found.first_ns);
  return found;
}

void look_at_growth(run_facts const& facts, std::vector<finding>& found) {
  auto const grown = growth_of(facts.steps.busy_of_step_ns);
  if (!grown) return;
  constexpr std::size_t shown = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(shown, facts.growing.size()); ++i)
    names += (i == 0 ? " in " : ", ") + facts.growing[i];
  finding one;
  one.what = "the GPU time of a step grows from " + in_time(grown->first_ns) + " to " +
             in_time(grown->last_ns) + " in the run" + names;
  one.range = facts.steps.name;
  one.instances = facts.steps.busy_of_step_ns.size();
  one.bucket = time_bucket::compute;
  one.gain = {0, grown->above_first_ns};
  one.within_ns = grown->above_first_ns;
  one.condition = "no step needs what the steps before it left";
  one.yields_to = every_other_rule;
  one.because = {{"first tenth of the steps", grown->first_ns, "ns", "traced"},
                 {"last tenth", grown->last_ns, "ns", "traced"}};
  one.to_do =
      "Look for what the program keeps from step to step: tensors that are appended to with "
      "torch.cat, losses that are added up with their graph (.detach(), .item()), a cache "
      "without a limit. A sequence that grows on purpose needs it.";
  one.arithmetic = "the sum of what the steps take beyond those of the first tenth";
  found.push_back(std::move(one));
}

void look_at_evenness(run_facts const& facts, std::vector<finding>& found) {
  auto const& steps = facts.steps;
  if (steps.period_ns.size() < min_steps || growth_of(steps.busy_of_step_ns)) return;
  auto const slow = slow_steps_of(steps);
  auto const steady = static_cast<double>(steps.period_ns.size() - 1);
  auto const count = static_cast<double>(slow.which.size());
  if (count <= slow_share * steady) return;
  double more = 0;
  auto const gpus = static_cast<double>(std::max<std::size_t>(1, facts.devices.size()));
  for (auto const i : slow.which) {
    auto const longer = gpus * (steps.period_ns[i] - slow.median_ns);
    more += slow.median_on_gpu_ns > 0 ? std::min(longer, steps.gpu_ns[i] - slow.median_on_gpu_ns)
                                      : longer;
  }
  auto const cause = cause_of_slow(steps);
  auto const longest = *std::max_element(steps.period_ns.begin() + 1, steps.period_ns.end());
  finding one;
  one.what = in_count(count) + " of " + in_count(steady) +
             " steps take longer than 1.2 times the median, on the GPU too";
  if (cause) one.what += "; the difference is mostly " + std::string(name_of(*cause));
  one.range = steps.name;
  one.instances = slow.which.size();
  one.bucket = cause.value_or(time_bucket::cpu_work);
  one.gain = {0, more};
  one.yields_to = every_other_rule;  // this finding says where to look, the others say why
  one.because = {{"longest step", longest, "ns", "traced"},
                 {"median step", slow.median_ns, "ns", "traced"}};
  one.to_do =
      "Look at one of the slow steps in a timeline (gpuprof export) beside its neighbor. "
      "Usual reasons: batches of other shapes, a loader that falls behind, logging or "
      "saving each n steps, garbage collection (gc.freeze()), other jobs on the machine.";
  one.arithmetic = "the sum of step - median step of " + in_time(slow.median_ns) +
                   " over the slow ones, of each as much as its GPU work takes longer";
  found.push_back(std::move(one));
}

constexpr rule input_table[] = {
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
    {.name = "growing_steps",
     .group = rule_group::input,
     .needs = data::kernels | data::steps,
     .question = "Does the work of a step grow from step to step?",
     .fires_at =
         "the GPU time of a step in the last tenth of 20 steps or more is 1.2 times that of "
         "the first, and four of five pairs of tenths are in order",
     .gain = "low: 0; high: what the steps take beyond those of the first tenth, less what other "
             "findings explain",
     .ignores = "if it has to grow; a clock that falls (clock_loss)",
     .next = "gpuprof analyze --step slowest",
     .min_instances = 1,
     .look = look_at_growth},
    {.name = "uneven_steps",
     .group = rule_group::input,
     .needs = data::kernels | data::steps,
     .question = "Do some steps take much longer than others?",
     .fires_at =
         "more than 5 % of ten steps or more, without the first, longer than 1.2 x median, on the "
         "GPU as well: runs on one machine differ by up to 7 %",
     .gain =
         "low: 0; high: the sum of step - median over these, of each as much as its GPU work takes "
         "longer, less what other findings explain",
     .ignores = "steps that have more to do",
     .next = "gpuprof stats -r nvtx_pushpop_trace lists the steps",
     .min_instances = 1,
     .look = look_at_evenness},
};

}  // namespace

std::span<rule const> input_rules() noexcept {
  return input_table;
}

}  // namespace gpuprof::host::advice
