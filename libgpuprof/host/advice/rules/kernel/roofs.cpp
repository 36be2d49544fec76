// SPDX-License-Identifier: Apache-2.0
// Rules on the distance of kernels from the roofs of the GPU, and on reduced clocks.
#include "host/advice/kernel_caps.hpp"
#include "host/advice/rules/kernel/kernel_view.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>
#include <set>

namespace gpuprof::host::advice {
namespace {

constexpr double far_from_roof = 0.7 / 0.8;  // of the reachable share
constexpr double least_share_of_window = 0.02;
constexpr double fills_gpu_ns = 5'000;  // in shorter launches the time to fill the GPU counts
constexpr double at_dram_roof = 0.8;
constexpr double full_clock = 0.95;    // of the greatest
constexpr double often_limited = 0.1;  // of the moments at which NVML was asked
/// Above these shares of tensor-core use or of a roof, the work itself draws the power.
constexpr double hungry_tensor_active = 0.4, hungry_share = 0.6;

std::string advice_for(kernel_view const& view) {
  // Samples give only rates, not stall reasons.
  if (!view.seen.longest_wait())
    return "Record --metrics auto --set explain: it says whether memory access, stalls, occupancy "
           "or idle SMs keep the kernel from its roof.";
  return "Nothing that was counted explains it. Compare with a library's kernel for the same work, "
         "and look at the code with a profiler of instructions.";
}

/// Used share of the issue slots of the whole GPU, including idle SMs. It is a roof too, and the
/// only one for integer work, for which no peak is measured. 0: not known.
double issue_share(kernel_view const& view) noexcept {
  if (!view.seen.issue_use || !view.seen.idle_sms) return 0;
  return *view.seen.issue_use * (1 - *view.seen.idle_sms);
}

double nearest_roof(kernel_view const& view) noexcept {
  return std::max(view.best_share().value_or(0), issue_share(view));
}

std::string what_holds(kernel_view const& view) {
  auto const issue = issue_share(view);
  if (issue > view.best_share().value_or(0) && issue >= full_issue)
    return "its instructions take " + in_percent(issue) + " of the issue slots";
  if (view.is_latency_bound()) return "neither memory nor compute units are busy";
  return "nearest is " + std::string(name_of(view.kernel.figures.bound));
}

/// Makes one finding on kernels of several names. The first one must have the most time.
finding finding_on_all(std::vector<kernel_view const*> const& views, std::string_view rule) {
  auto one = finding_on(*views.front(), rule, kernel_claim::none, "");
  one.kernel_line.reset();
  one.instances = 0;
  std::set<std::string_view> names;
  for (auto const* const view : views) {
    one.instances += view->kernel.launches;
    if (view->kernel.device != one.device) one.device.reset();
    if (view->kernel.range != one.range) one.range.clear();
    names.insert(view->kernel.name);
  }
  one.level = severity::info;
  one.because = {{"kernels", static_cast<double>(names.size()), "", "traced"}};
  if (names.size() > 1) one.geometry.clear();
  return one;
}

double time_of(std::vector<kernel_view const*> const& views) {
  double time = 0;
  for (auto const* const view : views) time += view->time();
  return time;
}

bool is_bound_by_sms(kernel_view const& view) noexcept {
  auto const what = view.kernel.figures.bound.what;
  return what == bound_by::kind::compute || what == bound_by::kind::latency ||
         what == bound_by::kind::l2;
}

bool draws_power(kernel_view const& view) noexcept {
  return view.tensor_active() >= hungry_tensor_active ||
         view.best_share().value_or(0) >= hungry_share;
}

/// Summary of the clocks of one GPU.
struct clocks_seen {
  std::vector<kernel_view const*> slow;  // bound by SMs, below the greatest clock
  double lost_ns = 0;
  bool any_full = false, any_slow_without_power = false;

  void add(kernel_view const& view) {
    auto const loss = view.kernel.figures.clock_loss;
    if (!loss) return;
    if (*loss <= 1 - full_clock) {
      any_full = true;
      return;
    }
    any_slow_without_power |= !draws_power(view);
    if (!is_bound_by_sms(view)) return;
    slow.push_back(&view);
    lost_ns += view.time() * *loss;
  }
};

/// Adds the reasons that NVML gave to the finding.
void add_reasons(finding& one, clock_limits const& limits) {
  if (limits.moments == 0) return;
  auto const share = [&](std::size_t moments) {
    return static_cast<double>(moments) / static_cast<double>(limits.moments);
  };
  one.because.push_back({"of the moments: limited by power", share(limits.by_power), "", "NVML"});
  one.because.push_back({"limited by heat", share(limits.by_heat), "", "NVML"});
}

void say(clocks_seen const& seen, device_facts const& gpu, run_facts const& facts,
         std::vector<finding>& found) {
  if (seen.slow.empty()) return;
  auto one = finding_on_all(seen.slow, "clock_loss");
  auto const time = time_of(seen.slow);
  auto const loss = seen.lost_ns / time;
  auto const& limits = gpu.limits;
  auto const is_often = [&](std::size_t moments) {
    return static_cast<double>(moments) > often_limited * static_cast<double>(limits.moments);
  };
  auto const lowered = !seen.any_full && seen.any_slow_without_power;
  auto const clock_source = source_text(seen.slow.front()->kernel.figures.from.clock);
  one.because.insert(
      one.because.begin(),
      {{"SM clock", seen.slow.front()->kernel.figures.clock.value_or(0), "Hz", clock_source},
       {"below the maximum clock", loss, "", clock_source}});
  one.arithmetic = "time of kernels that SMs hold x clock lost: " + in_time(time) + " x " +
                   in_percent(loss) + " = " + in_time(seen.lost_ns);
  add_reasons(one, limits);
  if (is_often(limits.by_heat)) {
    one.level = severity::warning;
    one.what = "heat limits the SM clock: " + in_percent(loss) + " below the maximum";
    one.gain = possible(seen.lost_ns);
    one.to_do = "Nothing in the program is wrong. Cool the machine: fans, air flow, neighbors.";
  } else if (lowered) {
    one.level = severity::warning;
    one.what = "the SM clock is " + in_percent(loss) +
               " below the maximum, also in kernels that draw little power";
    one.gain = possible(seen.lost_ns);
    one.to_do =
        "Run nvidia-smi -q -d PERFORMANCE,CLOCK while the program runs: heat, a locked "
        "clock or a power limit that others use up hold the clock down.";
  } else {
    auto const by_power = limits.moments == 0 || limits.by_power > 0;
    one.what = (by_power ? "power limits the SM clock under load: "
                         : "the SM clock goes down under load, and NVML names no reason: ") +
               in_percent(loss) + " below the maximum, in kernels with " +
               in_percent(time / facts.all_windows_ns()) + " of the time";
    one.to_do =
        std::string("Nothing in the program is wrong. Compare these kernels with sustained peaks") +
        (by_power ? ", or raise the power limit." : ".");
    one.arithmetic += "; no gain is claimed: it is what full load does";
  }
  found.push_back(std::move(one));
}

}  // namespace

void look_at_distance_to_roof(kernel_view const& view, std::vector<finding>& found) {
  auto const share = view.best_share();
  auto const target = reachable_share_of(view.kernel), used = nearest_roof(view);
  if (!share || used >= far_from_roof * target || view.window_share < least_share_of_window ||
      view.mean_ns() < fills_gpu_ns)
    return;
  auto one =
      finding_on(view, "below_roof", kernel_claim::remainder,
                 "reaches " + in_percent(*share) + " of the measured roof; " + what_holds(view));
  one.because = {{"of the roof", *share, "", view.source_of_best()},
                 {"DRAM", view.share_of(dram_roof), "", view.source_of_share(dram_roof)},
                 {"L2", view.share_of(l2_roof), "", view.source_of_share(l2_roof)}};
  if (view.seen.issue_use)
    one.because.push_back({"issue slots used", *view.seen.issue_use, "", "counted"});
  if (auto const top = view.seen.longest_wait())
    one.because.push_back(
        {"stalled: " + std::string(name_of(top->reason)), top->share, "", "counted"});
  one.gain = possible(view.time() * (1 - used / target));
  one.arithmetic = "time x (1 - nearest roof / " + as_figure(target) +
                   ") = " + in_time(view.time()) + " x (1 - " + as_figure(used) + " / " +
                   as_figure(target) + "); libraries reach 0.81 to 0.87 of measured roofs";
  one.to_do = advice_for(view);
  found.push_back(std::move(one));
}

void look_at_full_dram(run_facts const& facts, std::vector<finding>& found) {
  auto const views = kernels_worth_a_look(facts, least_time_of_many);
  std::vector<kernel_view const*> at_roof;
  for (auto const& view : views)
    if (view.share_of(dram_roof) >= at_dram_roof) at_roof.push_back(&view);
  if (at_roof.empty()) return;
  auto one = finding_on_all(at_roof, "dram_bound");
  auto const share = time_of(at_roof) / facts.all_windows_ns();
  one.what = "kernels with " + in_percent(share) +
             " of the time move data as fast as DRAM can: they are at their roof";
  one.because.insert(one.because.begin(),
                     {{"of the DRAM roof", at_roof.front()->share_of(dram_roof), "",
                       at_roof.front()->source_of_share(dram_roof)},
                      {"of the time", share, "", "traced"}});
  if (at_roof.front()->seen.l2_miss)
    one.because.push_back({"L2 sectors missed", *at_roof.front()->seen.l2_miss, "", "counted"});
  one.to_do =
      "Fewer bytes help, not faster kernels: fuse neighbors, so that what one writes and the next "
      "reads stays on the SM (torch.compile does), or use narrower types.";
  one.arithmetic =
      "no gain is claimed here: rows of such kernels, if there are any, are findings of their own";
  found.push_back(std::move(one));
}

void look_at_clocks(run_facts const& facts, std::vector<finding>& found) {
  auto const views = kernels_worth_a_look(facts, least_time_of_many);
  for (auto const& gpu : facts.devices) {
    clocks_seen seen;
    for (auto const& view : views)
      if (view.kernel.device == gpu.device) seen.add(view);
    say(seen, gpu, facts, found);
  }
}

}  // namespace gpuprof::host::advice
