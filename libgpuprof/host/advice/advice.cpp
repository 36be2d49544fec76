// SPDX-License-Identifier: Apache-2.0
#include "host/advice/advice.hpp"

#include "host/advice/gain_words.hpp"
#include "host/advice/kernel_caps.hpp"
#include "host/advice/step_bound.hpp"
#include "host/advice/wording.hpp"
#include "host/replay/sensitivity.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace gpuprof::host::advice {
namespace {

bool names(std::vector<std::string> const& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_asked_for(rule const& one, advice_options const& options) {
  return (options.only.empty() || names(options.only, one.name)) &&
         !names(options.skipped, one.name);
}

/// Takes up to `wanted` from the buckets of a finding. Returns the amount that was available.
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

/// Time that this profiler itself adds to launches while the GPU waits for them. No fix can save
/// it.
double own_in_launches(run_facts const& facts) {
  double ns = 0;
  for (auto const& gap : facts.gaps)
    if (gap.cause == time_bucket::launch_bound)
      ns += static_cast<double>(gap.count) * facts.own_ns_a_launch;
  return ns;
}

/// Limits gains to the time spent in each bucket: findings with the highest gain are served first,
/// later ones get what is left. Gains from removed waits together are also limited to
/// `step_bound::excess()`.
void share_buckets(std::vector<finding>& findings, run_facts const& facts) {
  bucket_times left;
  for (auto const& device : facts.devices) left += device.ledger;
  auto& launches = left[time_bucket::launch_bound];
  launches = std::max(0.0, launches - own_in_launches(facts));
  auto excess = bound_of(facts).excess();
  auto const share = [&](finding& one) {
    if (one.is_replayed) return;
    auto const before = one.gain;
    auto const claimed = one.gain.high_ns;
    auto const wait = std::min(one.removed_wait_ns, claimed);
    auto const wanted = claimed - wait + std::min(wait, std::max(excess, one.gain.low_ns));
    one.gain.high_ns = taken_for(one, wanted, left);
    one.gain.low_ns = std::min(one.gain.low_ns, one.gain.high_ns);
    excess = std::max(0.0, excess - std::min(wait, one.gain.high_ns));
    say_change(one, before, "without what other findings and this profiler have of that idle time");
  };
  auto const turn_of = [&](finding const& one) {
    if (one.yields_to == every_other_rule) return 2;
    return !one.yields_to.empty() && has_finding_of(findings, one.yields_to) ? 1 : 0;
  };
  for (auto const& one : findings)
    if (one.is_replayed) {
      taken_for(one, one.gain.high_ns, left);
      excess = std::max(0.0, excess - std::min(one.removed_wait_ns, one.gain.high_ns));
    }
  for (auto const turn : {0, 1, 2})
    for (auto& one : findings)
      if (turn_of(one) == turn) share(one);
}

/// Removes warm-up, because rules look at the steady state only.
run_facts without_warm_up(run_facts facts) {
  std::erase_if(facts.copies, [](auto const& copy) { return copy.in_warm_up; });
  std::erase_if(facts.gaps, [](auto const& gap) { return gap.in_warm_up; });
  return facts;
}

/// Drops findings with fewer instances than the rule requires: they may be chance. `instances` 0
/// means that the rule does not count.
void look(rule const& one, run_facts const& facts, std::vector<finding>& all) {
  std::vector<finding> found;
  one.look(facts, found);
  for (auto& finding : found) {
    if (finding.instances != 0 && finding.instances < one.min_instances) continue;
    finding.rule = one.name;
    say_gain(finding);
    all.push_back(std::move(finding));
  }
}

/// A fix that saves little before others are made counts half of what it saves then.
double gain_in_turn(finding const& one) noexcept {
  return (one.gain.high_ns + std::min(one.alone_ns, one.gain.high_ns)) / 2;
}

void sort_by_gain(std::vector<finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](finding const& a, finding const& b) {
    return gain_in_turn(a) > gain_in_turn(b);
  });
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

bucket_times ledger_of(run_facts const& facts) {
  bucket_times sum;
  for (auto const& device : facts.devices) sum += device.ledger;
  return sum;
}

std::string busy_sentence(run_facts const& facts) {
  auto const times = ledger_of(facts);
  return "The GPU is busy " + percent(times.busy() / times.total()) + " of the time";
}

/// No gain is larger than the time that its finding is about, and all of them together are no
/// larger than the window: a replay adds its error to each. Of an interval that this cuts, the low
/// gain gets smaller with the high one: the replay says more than can be.
void limit_gains(std::vector<finding>& findings, double window_ns) {
  auto const limit = [](finding& one, double most, std::string_view why) {
    auto const before = one.gain;
    if (before.high_ns <= most) return;
    one.gain = {before.low_ns * most / before.high_ns, most};
    say_change(one, before, why);
  };
  for (auto& one : findings) limit(one, one.within_ns, "at most the time that it is about");
  sort_by_gain(findings);
  for (auto& one : findings) {
    limit(one, window_ns, "at most what findings with more leave of the run");
    window_ns -= one.gain.high_ns;
  }
}

/// Skips a rule if these GPUs can never deliver its data.
void note_missing(rule const& one, data_set missing, run_facts const& facts, run_advice& given) {
  if (missing.without(facts.impossible).has(missing)) given.missing.push_back({&one, missing});
}

}  // namespace

run_advice give_advice(run_facts const& whole_run, advice_options const& options,
                       replayable_steps const* steps) {
  auto const facts = without_warm_up(whole_run);
  run_advice given;
  given.holds = bottleneck_of(facts);
  if (steps != nullptr) given.holds.steps = sensitivity_of(*steps);
  // A busy GPU need not hold the program; what a replay says takes the place of the bucket.
  if (!given.holds.steps.empty() && !is_idle(given.holds.bucket) && !given.holds.launches_hold)
    given.holds.sentence = busy_sentence(facts) + ".";
  std::vector<finding> all;
  for (auto const* one : all_rules()) {
    if (!is_asked_for(*one, options)) continue;
    if (auto const missing = one->needs.without(facts.there); !missing.empty())
      note_missing(*one, missing, facts, given);
    else
      look(*one, facts, all);
  }
  all = settle_kernel_findings(std::move(all), facts, steps);
  auto const own_share = steps != nullptr ? replay_gains(all, facts, *steps) : 1;
  sort_by_gain(all);
  share_buckets(all, facts);
  auto const window = given.own_windows_ns =
      own_share * (facts.all_windows_ns() - ledger_of(facts)[time_bucket::profiler]);
  limit_gains(all, window);
  sort_by_gain(all);
  given.best_case_ns = window;
  for (auto& one : all) {
    std::erase_if(one.because, [](evidence const& fact) { return fact.value == 0; });
    if (one.gain.high_ns < options.min_gain * window && one.level != severity::info) {
      given.too_small.push_back(std::move(one));
      continue;
    }
    given.best_case_ns -= one.gain.high_ns;
    given.findings.push_back(std::move(one));
  }
  return given;
}

namespace {

time_bucket greatest_of(bucket_times const& times) {
  auto greatest = time_bucket::compute;
  for (std::size_t i = 0; i < time_bucket_count; ++i)
    if (times[static_cast<time_bucket>(i)] > times[greatest])
      greatest = static_cast<time_bucket>(i);
  return greatest;
}

std::string_view work_in(time_bucket busy) {
  switch (busy) {
    case time_bucket::communication:
      return "communication alone";
    case time_bucket::transfer:
      return "copies or fills alone";
    default:
      return "kernels";
  }
}

}  // namespace

bottleneck bottleneck_of(run_facts const& facts) {
  auto const times = ledger_of(facts);
  bottleneck found;
  auto const all = times.total();
  if (all <= 0) {
    found.sentence = "No GPU did anything in the capture.";
    return found;
  }
  found.bucket = greatest_of(times);
  found.share = times[found.bucket] / all;
  found.launches_hold = times[time_bucket::launch_bound] > 0.1 * all;
  found.sentence = busy_sentence(facts);
  if (is_idle(found.bucket))
    found.sentence += (times.idle() > all / 2 ? "; most of the time it waits (" : "; it waits (") +
                      std::string(name_of(found.bucket)) + ", " + percent(found.share) +
                      "): " + std::string(meaning_of(found.bucket)) + ".";
  else if (found.launches_hold)
    found.sentence += ", and for " + percent(times[time_bucket::launch_bound] / all) +
                      " it waits for launches: the CPU cannot launch them fast enough.";
  else
    found.sentence += ", most of it with " + std::string(work_in(found.bucket)) + ".";
  return found;
}

std::string sensitivity_of(replayable_steps const& steps) {
  auto const found = replay::sensitivities_of(*steps.graph, 0);
  auto kinds = found.kinds;
  if (found.step_ns <= 0 || kinds.empty()) return {};
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](auto const& a, auto const& b) { return a.tenth_ns > b.tenth_ns; });
  std::string text;
  for (auto const& kind : kinds) {
    char share[16];
    // A replay of a stretch may err beyond what is possible.
    std::snprintf(share, sizeof share, "%.1f %%",
                  std::clamp(100 * kind.tenth_ns / found.step_ns, 0.0, 10.0));
    text += text.empty()
                ? "10 % less time of " + kind.name +
                      (steps.is_sliced ? " makes the run " : " makes a step ") + share + " shorter"
                : ", of " + kind.name + " " + share;
  }
  return text + ".";
}

namespace {

double share_of(double part, kernel_facts const& kernel) {
  return kernel.total_ns > 0 ? std::clamp(part / kernel.total_ns, 0.0, 1.0) : 0;
}

using key = std::tuple<std::string_view, std::string, std::string, std::string, std::string>;

key key_of(finding const& one) {
  if (!one.family.empty()) return {one.rule, one.family, "", "", ""};
  if (!one.kernel.empty()) return {one.rule, one.kernel, "", "", ""};
  return {one.rule, "", one.what, one.call, one.range};
}

/// A finding while parts are merged into it.
struct merged {
  finding all;
  double worst_ns = 0;  // gain of the part that gave the words
  std::size_t findings = 1;
  std::set<std::string> kernels;
  std::set<std::pair<std::string, std::string>> geometries;  // of each kernel

  void count(finding const& part) {
    kernels.insert(part.kernel);
    geometries.emplace(part.kernel, part.geometry);
  }
};

void add_names(std::vector<std::string_view>& names, std::vector<std::string_view> const& more) {
  for (auto const name : more)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

void add(merged& into, finding one) {
  into.count(one);
  ++into.findings;
  if (one.gain.high_ns > into.worst_ns) {
    into.worst_ns = one.gain.high_ns;
    std::swap(into.all, one);
  }
  auto& all = into.all;
  all.gain.low_ns += one.gain.low_ns;
  all.gain.high_ns += one.gain.high_ns;
  all.within_ns += one.within_ns;
  all.instances += one.instances;
  if (all.device != one.device) all.device.reset();
  add_names(all.also, one.also);
  all.repairs.insert(all.repairs.end(), one.repairs.begin(), one.repairs.end());
  all.beside_ns += one.beside_ns;
}

std::string counted(std::size_t count, std::string const& what) {
  return std::to_string(count) + " " + what;
}

/// Returns "3 kernels", "5 launch geometries", or an empty text if the finding has only one.
std::string parts_of(finding const& all) {
  if (all.kernels > 1) return counted(all.kernels, "kernels");
  return all.geometries > 1 ? counted(all.geometries, "launch geometries") : std::string();
}

finding finished(merged part) {
  auto& all = part.all;
  all.kernels = static_cast<std::uint32_t>(part.kernels.size());
  all.geometries = static_cast<std::uint32_t>(part.geometries.size());
  auto const sum = [&](std::string const& of) {
    return "the worst: " + all.arithmetic + "; the sum over " + of + ": " + in_words(all.gain);
  };
  auto const parts = parts_of(all);
  if (parts.empty()) {
    if (part.findings > 1) all.arithmetic = sum(counted(part.findings, "such findings"));
    return std::move(all);
  }
  all.what += " (worst of " + parts + (all.kernels > 1 ? "" : ": " + all.geometry) + ")";
  all.arithmetic = sum(parts);
  return std::move(all);
}

}  // namespace

bool launches_hold(run_facts const& facts) {
  auto const bound = bound_of(facts);
  return bound.host_ns > 0 ? bound.launches_hold() : bottleneck_of(facts).launches_hold;
}

void take_hidden_gains(std::vector<finding>& findings, run_facts const& facts) {
  auto const held = launches_hold(facts);
  for (auto& one : findings) {
    if (!one.kernel_line) continue;
    auto const& kernel = facts.kernels[*one.kernel_line];
    auto const followed = share_of(kernel.followed_ns, kernel);
    auto const alone = std::min(followed, share_of(kernel.alone_ns, kernel));
    auto before = one.gain;
    one.gain.low_ns *= alone;
    say_change(one, before,
               "low only of the " + in_percent(alone) +
                   " of its time with nothing beside it and the next one queued");
    if (!held || followed >= 0.5) continue;
    before = one.gain;
    one.is_hidden_by_launches = true;
    one.gain.high_ns *= followed;
    one.gain.low_ns = std::min(one.gain.low_ns, one.gain.high_ns);
    say_change(one, before, "only the " + in_percent(followed) + " with the next one queued");
    one.to_do += " The CPU launches too slowly: only " + in_percent(followed) +
                 " of this kernel's time had the next kernel already queued, and only there a "
                 "shorter kernel saves time. Launch less or faster first.";
  }
}

namespace {

/// A fix of a kernel makes it shorter by what the finding claims.
void state_kernel_repair(finding& one, run_facts const& facts) {
  if (!one.kernel_line || !one.repairs.empty() || one.gain.high_ns <= 0) return;
  stated_repair shorter;
  shorter.kind = replay::repair_kind::scale;
  shorter.names = {facts.kernels[*one.kernel_line].name};
  shorter.saved_low_ns = one.gain.low_ns;
  shorter.saved_high_ns = one.gain.high_ns;
  one.repairs.push_back(std::move(shorter));
}

}  // namespace

std::vector<finding> merge_findings(std::vector<finding> findings) {
  std::map<key, std::size_t> places;
  std::vector<merged> parts;
  for (auto& one : findings) {
    auto const [place, is_new] = places.emplace(key_of(one), parts.size());
    if (is_new) {
      merged first;
      first.worst_ns = one.gain.high_ns;
      first.count(one);
      first.all = std::move(one);
      parts.push_back(std::move(first));
    } else {
      add(parts[place->second], std::move(one));
    }
  }
  std::vector<finding> result;
  result.reserve(parts.size());
  for (auto& part : parts) result.push_back(finished(std::move(part)));
  return result;
}

std::vector<finding> settle_kernel_findings(std::vector<finding> findings, run_facts const& facts,
                                            replayable_steps const* replayed) {
  auto shared = share_kernel_caps(std::move(findings), facts);
  std::vector<finding> of_steps, others;
  for (auto& one : shared) {
    if (one.kernel_line) one.within_ns = facts.kernels[*one.kernel_line].total_ns;
    state_kernel_repair(one, facts);
    auto const is_replayed = replayed != nullptr && one.kernel_line && can_replay(one, *replayed);
    (is_replayed ? of_steps : others).push_back(std::move(one));
  }
  take_hidden_gains(others, facts);
  of_steps.insert(of_steps.end(), std::make_move_iterator(others.begin()),
                  std::make_move_iterator(others.end()));
  return merge_findings(std::move(of_steps));
}

}  // namespace gpuprof::host::advice
