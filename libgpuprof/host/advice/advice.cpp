// SPDX-License-Identifier: Apache-2.0
#include "host/advice/advice.hpp"

#include "host/advice/kernel_findings.hpp"
#include "host/advice/step_bound.hpp"

#include <algorithm>
#include <array>

namespace gpuprof::host::advice {
namespace {

bool names(std::vector<std::string> const& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_asked_for(rule const& one, advice_options const& options) {
  return (options.only.empty() || names(options.only, one.name)) &&
         !names(options.skipped, one.name);
}

/// Takes up to `wanted` from the buckets of a finding; returns what was there.
double taken_for(finding const& one, double wanted, bucket_times& left) {
  double taken = 0;
  auto const take = [&](time_bucket bucket) {
    auto const part = std::min(wanted - taken, left[bucket]);
    left[bucket] -= part;
    taken += part;
  };
  take(one.bucket);
  for (auto const bucket : one.further_buckets) take(bucket);
  return taken;
}

bool has_finding_of(std::vector<finding> const& findings, std::string_view rule) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](auto const& one) { return one.rule == rule; });
}

/// Where the GPU waits for launches, each is later by what this profiler adds: no mend saves that.
double own_in_launches(run_facts const& facts) {
  double ns = 0;
  for (auto const& gap : facts.gaps)
    if (gap.cause == time_bucket::launch_bound)
      ns += static_cast<double>(gap.count) * facts.own_ns_a_launch;
  return ns;
}

/// Nobody can save more of a bucket than was spent in it: the findings with the highest gain come
/// first, later ones take what is left. So do all that remove waits with what steps take beyond GPU
/// and launching thread.
void share_buckets(std::vector<finding>& findings, run_facts const& facts) {
  bucket_times left;
  for (auto const& device : facts.devices) left += device.ledger;
  auto& launches = left[time_bucket::launch_bound];
  launches = std::max(0.0, launches - own_in_launches(facts));
  auto excess = bound_of(facts).excess();
  auto const share = [&](finding& one) {
    auto const claimed = one.gain.high_ns;
    auto const wait = std::min(one.removed_wait_ns, claimed);
    auto const wanted = claimed - wait + std::min(wait, std::max(excess, one.gain.low_ns));
    one.gain.high_ns = taken_for(one, wanted, left);
    one.gain.low_ns = std::min(one.gain.low_ns, one.gain.high_ns);
    excess = std::max(0.0, excess - std::min(wait, one.gain.high_ns));
    if (one.gain.high_ns < claimed && !one.arithmetic.empty())
      one.arithmetic += "; part of it is counted in other findings";
  };
  auto const turn_of = [&](finding const& one) {
    if (one.yields_to == every_other_rule) return 2;
    return !one.yields_to.empty() && has_finding_of(findings, one.yields_to) ? 1 : 0;
  };
  for (auto const turn : {0, 1, 2})
    for (auto& one : findings)
      if (turn_of(one) == turn) share(one);
}

/// Rules look at the steady state.
run_facts without_warm_up(run_facts facts) {
  std::erase_if(facts.copies, [](auto const& copy) { return copy.in_warm_up; });
  std::erase_if(facts.gaps, [](auto const& gap) { return gap.in_warm_up; });
  return facts;
}

/// What has happened fewer times than the rule asks for is chance. 0: the rule does not count.
void look(rule const& one, run_facts const& facts, std::vector<finding>& all) {
  std::vector<finding> found;
  one.look(facts, found);
  for (auto& finding : found) {
    if (finding.instances != 0 && finding.instances < one.min_instances) continue;
    finding.rule = one.name;
    all.push_back(std::move(finding));
  }
}

void sort_by_gain(std::vector<finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](finding const& a, finding const& b) {
    return a.gain.high_ns > b.gain.high_ns;
  });
}

/// Nothing is said of a rule that can never be asked on these GPUs.
void note_missing(rule const& one, data_set missing, run_facts const& facts, run_advice& given) {
  if (missing.without(facts.impossible).has(missing)) given.missing.push_back({&one, missing});
}

}  // namespace

run_advice give_advice(run_facts const& whole_run, advice_options const& options) {
  auto const facts = without_warm_up(whole_run);
  run_advice given;
  given.holds = bottleneck_of(facts);
  std::vector<finding> all;
  for (auto const* one : all_rules()) {
    if (!is_asked_for(*one, options)) continue;
    if (auto const missing = one->needs.without(facts.there); !missing.empty())
      note_missing(*one, missing, facts, given);
    else
      look(*one, facts, all);
  }
  all = settle_kernel_findings(std::move(all), facts);
  sort_by_gain(all);
  share_buckets(all, facts);
  sort_by_gain(all);
  auto const window = facts.all_windows_ns();
  given.best_case_ns = window;
  for (auto& one : all) {
    if (one.gain.high_ns < options.min_gain * window && one.level != severity::info) {
      given.too_small.push_back(std::move(one));
      continue;
    }
    given.best_case_ns -= one.gain.high_ns;
    given.findings.push_back(std::move(one));
  }
  return given;
}

}  // namespace gpuprof::host::advice
