// SPDX-License-Identifier: Apache-2.0
// Rules on communication: no kernel runs beside it, it is slow, or it waits for one rank.
#include "host/advice/rule.hpp"
#include "host/advice/rules/measured_rates.hpp"
#include "host/advice/step_bound.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::advice {
namespace {

constexpr double min_exposed = 0.02;  // of the window
/// From this share of the window on, communication holds the program even if compute cannot hide
/// it.
constexpr double holds_program = 0.1;
/// A smaller gain may be below the user's threshold.
constexpr double clear_gain = 0.02;
constexpr std::uint64_t least_instances = 3;  // fewer are chance, unless they hold the program
// slowdown beside kernels, if the capture lacks launches of one kind
constexpr double best_slowdown = 1;
constexpr double slow_link = 0.6;  // of the measured peer rate

struct exposed_sum {
  double alone_ns = 0, total_ns = 0;
  double slowed_ns = 0;  // sum over names: time alone x slowdown beside kernels
  double seen_ns = 0;    // time alone of names whose slowdown is known
  std::uint64_t count = 0;
  std::string longest;  // name with the most time alone
};

exposed_sum exposed(run_facts const& facts) {
  exposed_sum sum;
  double most = 0;
  for (auto const& one : facts.communication) {
    sum.alone_ns += one.alone_ns;
    sum.total_ns += one.total_ns;
    sum.count += one.count;
    if (one.mean_ns_beside > 0 && one.mean_ns_alone > 0) {
      auto const slowdown = std::clamp(one.mean_ns_beside / one.mean_ns_alone, 1.0, 2.0);
      sum.slowed_ns += one.alone_ns * slowdown;
      sum.seen_ns += one.alone_ns;
    }
    if (one.alone_ns <= most) continue;
    most = one.alone_ns;
    sum.longest = one.name;
  }
  return sum;
}

double compute_of(run_facts const& facts) {
  double sum = 0;
  for (auto const& device : facts.devices) sum += device.ledger[time_bucket::compute];
  return sum;
}

void look_at_exposed(run_facts const& facts, std::vector<finding>& found) {
  auto const sum = exposed(facts);
  if (share_of_window(facts, sum.alone_ns) < min_exposed) return;
  auto const holds = share_of_window(facts, sum.alone_ns) >= holds_program;
  if (!holds && sum.count < least_instances) return;
  auto const is_seen = sum.seen_ns > 0;
  auto const r = is_seen ? sum.slowed_ns / sum.seen_ns : best_slowdown;
  auto const high = std::min(sum.alone_ns, compute_of(facts)) * (2 - r);
  finding one;
  one.what = in_percent(sum.alone_ns / sum.total_ns) +
             " of the communication runs while no other kernel does";
  one.kernel = sum.longest;
  one.instances = sum.count;
  one.bucket = time_bucket::communication;
  one.gain = bound_of(facts).gain(high, 0, {.busy_ns = high});
  if (holds && share_of_window(facts, one.gain.high_ns) < clear_gain) one.level = severity::info;
  std::vector<std::string> names;
  for (auto const& of : facts.communication)
    if (of.bytes == 0) names.push_back(of.name);  // kernels, which have a stream of their own
  one.repairs = {
      {.kind = replay::repair_kind::overlap, .names = names, .at_best = 1, .is_only_at_best = true},
      {.kind = replay::repair_kind::scale, .names = names, .at_best = r, .is_only_at_best = true}};
  one.condition = "the kernels beside it do not need what is sent";
  one.because = {{"alone", sum.alone_ns, "ns", "traced"},
                 {"of the window", 100 * share_of_window(facts, sum.alone_ns), "%", "traced"},
                 {"longer beside kernels", r, "", is_seen ? "traced" : "at best"}};
  one.to_do =
      "Start it earlier and let kernels run beside it: smaller gradient buckets in DDP "
      "(bucket_cap_mb), prefetch in FSDP, no_sync() while gradients are accumulated, "
      "async_op=True, a stream of its own; or send less (bf16, compression).";
  one.arithmetic = in_time(sum.alone_ns) + " alone x (2 - " + in_percent(r) +
                   "): beside kernels both take longer" +
                   (is_seen ? ", as seen in this capture" : ", at best not: none ran beside them");
  if (one.level == severity::info)
    one.arithmetic += "; how much of it is waiting for other ranks, their captures tell together";
  found.push_back(std::move(one));
}

void look_at_links(run_facts const& facts, std::vector<finding>& found) {
  auto const peak = measured(facts, "p2p");
  if (!peak) return;
  for (auto const& of : facts.communication) {
    auto const rate = rate_of(of.bytes, of.total_ns);
    if (of.bytes <= 0 || rate >= slow_link * *peak) continue;
    auto const at_peak = ns_at(of.bytes, *peak);
    auto const alone = of.total_ns > 0 ? of.alone_ns / of.total_ns : 0;
    finding one;
    one.what =
        of.name + " moves " + in_rate(rate) + " between GPUs, the link reaches " + in_rate(*peak);
    one.kernel = of.name;
    one.instances = of.count;
    one.bucket = time_bucket::communication;
    one.gain = {0, alone * (of.total_ns - at_peak)};
    one.repairs = {{.kind = replay::repair_kind::scale,
                    .names = {of.name},
                    .sure = 1,
                    .at_best = at_peak / of.total_ns}};
    one.condition = "messages of this size can reach it";
    one.because = {{"achieved", rate / 1e9, "GB/s", "traced"},
                   {"peer copy", *peak / 1e9, "GB/s", "measured peak"},
                   {"bytes each", of.bytes / static_cast<double>(of.count), "B", "traced"}};
    one.to_do =
        "Send more at once (greater buckets), enable peer access between the GPUs "
        "(nvidia-smi topo -m shows the links), see that NCCL uses them (NCCL_DEBUG=INFO, "
        "NCCL_P2P_DISABLE unset).";
    one.arithmetic = in_time(of.total_ns) + " would be " + in_time(at_peak) + " at " +
                     in_rate(*peak) + "; " + in_percent(alone) + " of it is alone on the GPU";
    found.push_back(std::move(one));
  }
}

/// What the rank does for longer, and what to do about it.
std::pair<std::string, std::string> words_of(late_rank const& late) {
  auto const by = in_time(late.more_ns) + " longer";
  auto const named = [&](char const* before) {
    return late.what.empty() ? std::string() : before + late.what;
  };
  switch (late.cause) {
    case late_cause::kernels:
      return {"its kernels run " + by + named(", most of it "),
              "Give the ranks equal work: batches of equal size and sequences of equal length, "
              "nothing that one rank computes for all. If the work is equal, its GPU is slower: "
              "clocks, heat."};
    case late_cause::copies:
      return {"its copies take " + by + named(", most of it "),
              "Copy from pinned memory beside the kernels, and no more than the other ranks do."};
    case late_cause::calls:
      return {"it is " + by + named(" in "),
              "Make this call before the steps, or on all ranks at the same time."};
    case late_cause::cpu_work:
      break;
  }
  return {
      "its CPU works " + by + named(" in range "),
      "Do what only this rank does (logging, saving, metrics) in another thread or once in many "
      "steps; otherwise give it the same input work and as many free cores as the others."};
}

void look_at_ranks(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& rank : facts.ranks) {
    auto const& late = rank.late;
    auto const [cause, to_do] = words_of(late);
    finding one;
    one.what = "rank " + rank.rank + " comes last to " +
               in_count(static_cast<double>(late.last_in)) + " of " +
               in_count(static_cast<double>(late.collectives)) + " collectives, by " +
               in_time(late.late_ns) + " a step: " + cause;
    if (!rank.host.empty()) one.what += " (host " + rank.host + ")";
    one.instances = late.last_in;
    one.bucket = time_bucket::communication;
    one.gain = {rank.all_steps * late.least_gain_ns, rank.all_steps * late.greatest_gain_ns};
    if (late.cause == late_cause::cpu_work) one.range = late.what;
    if (late.cause == late_cause::kernels) one.kernel = late.what;
    if (late.cause == late_cause::calls) one.call = late.what;
    one.because = {{"late in all", rank.all_steps * late.late_ns, "ns", "traced"},
                   {"late steps", static_cast<double>(late.late_steps),
                    "of " + in_count(static_cast<double>(late.steps)), "traced"}};
    one.to_do = to_do;
    auto const count = in_count(static_cast<double>(late.steps));
    one.arithmetic =
        (late.is_replayed
             ? "the steps of all ranks replayed (" + count +
                   " of them) as if this rank did as much of it as the median of the others: "
             : "how late it is, in the mean of " + count +
                   " steps; without calls in the capture, or with readings of counters in them, "
                   "they cannot be replayed with less work: ") +
        in_time(late.least_gain_ns) + " to " + in_time(late.greatest_gain_ns) + " a step, x " +
        in_count(rank.all_steps) + " steps";
    found.push_back(std::move(one));
  }
}

constexpr rule communication_table[] = {
    {.name = "exposed_comm",
     .group = rule_group::communication,
     .needs = data::kernels,
     .question = "Does communication run while no kernel does?",
     .fires_at = "2 % of the window; from 10 % on whatever the gain",
     .gain = "low: 0; high: min(time alone, compute) x (2 - r), r: how much longer the same "
             "communication takes beside kernels in this capture, 1 at best where none does",
     .ignores = "kernels that need the result; ranks that come late (late_rank)",
     .next = "gpuprof report of all ranks: what runs beside it, and who comes late",
     .min_instances = 1,
     .look = look_at_exposed},
    {.name = "slow_link",
     .group = rule_group::communication,
     .needs = data::kernels | data::peer_peaks,
     .question = "Do transfers between GPUs reach the rate of the link?",
     .fires_at = "below 0.6 of the measured peer copy",
     .gain = "low: 0; high: the part alone on the GPU x (time - bytes at the measured rate)",
     .ignores = "time that collectives wait for other ranks",
     .next = "gpuprof peaks --only p2p",
     .look = look_at_links},
    {.name = "late_rank",
     .group = rule_group::communication,
     .needs = data::kernels | data::several_ranks,
     .question = "Do the ranks wait for one of them?",
     .fires_at =
         "it is the last by 2 % of the step in more than half of the steps and in the mean, "
         "and its kernels, copies, calls or CPU work take longer than those of the others, "
         "by a quarter of that or more",
     .gain =
         "a replay of all ranks in which it does as much as the median of the others; where calls "
         "are not recorded or counters were read in the steps, low: 0, high: how late it is",
     .ignores =
         "ranks that are late in turn, because they wait, or because this profiler held them",
     .next = "gpuprof whatif --rank N, of the captures of all ranks",
     .look = look_at_ranks},
};

}  // namespace

std::span<rule const> communication_rules() noexcept {
  return communication_table;
}

}  // namespace gpuprof::host::advice
