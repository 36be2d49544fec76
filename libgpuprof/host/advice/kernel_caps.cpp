// SPDX-License-Identifier: Apache-2.0
#include "host/advice/kernel_caps.hpp"

#include "host/advice/gain_words.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace gpuprof::host::advice {
namespace {

/// If causes explain this share of a cap, symptoms and the remainder are dropped.
constexpr double explained_share = 0.1;

bool yields(kernel_claim claim) noexcept {
  return claim == kernel_claim::symptom || claim == kernel_claim::remainder;
}

/// The part of one kernel's time, of its distance to the reachable share and of its distance to the
/// roof that is still unclaimed.
struct budget {
  double time, distance, to_roof, cap;
  bool is_explained() const noexcept { return cap - distance >= explained_share * cap; }

  double allowed(kernel_claim claim) const noexcept {
    if (claim == kernel_claim::other_work) return time;
    return std::min(time, yields(claim) ? distance : to_roof);
  }
  void take(double taken) noexcept {
    time -= taken;
    distance = std::max(0.0, distance - taken);
    to_roof = std::max(0.0, to_roof - taken);
  }
};

/// The low gain never exceeds the distance to what good kernels reach.
void take_gain(finding& one, budget& left) noexcept {
  auto const before = one.gain;
  auto const sure = one.claim == kernel_claim::other_work ? left.time : left.distance;
  one.gain.high_ns = std::min(one.gain.high_ns, left.allowed(one.claim));
  one.gain.low_ns = std::min({one.gain.low_ns, one.gain.high_ns, sure});
  left.take(one.gain.high_ns);
  say_change(one, before,
             one.claim == kernel_claim::other_work
                 ? "at most the time of this kernel that other findings leave"
                 : "at most this kernel's distance to its roof that other findings leave");
}

/// Sets the gains. Findings that will be dropped get a gain of 0.
void share_one(std::span<finding*> on_kernel, kernel_facts const& kernel) {
  std::stable_sort(on_kernel.begin(), on_kernel.end(), [](finding const* a, finding const* b) {
    return std::tuple(a->claim, a->gain.high_ns) > std::tuple(b->claim, b->gain.high_ns);
  });
  auto const cap = cap_of(kernel);
  budget left{kernel.total_ns, cap, time_above_roof_of(kernel), cap};
  auto& lead = *on_kernel.front();
  auto last = kernel_claim::none;
  bool is_explained = false;
  for (auto* const one : on_kernel) {
    if (one->claim != last) is_explained = left.is_explained();
    last = one->claim;
    auto const silent = yields(one->claim) && one != &lead && is_explained;
    if (silent)
      one->gain = {};
    else
      take_gain(*one, left);
    if (one != &lead && one->gain.high_ns <= 0) lead.also.push_back(one->rule);
  }
}

}  // namespace

double reachable_share_of(kernel_facts const& kernel) noexcept {
  for (auto const* const word : {"flash", "fmha", "attention", "Attention", "sdpa"})
    if (kernel.name.find(word) != std::string::npos) return reachable_share_of_attention;
  return reachable_share;
}

double cap_of(kernel_facts const& kernel) noexcept {
  if (!kernel.figures.of_roof) return kernel.total_ns;
  return kernel.total_ns * std::max(0.0, 1 - *kernel.figures.of_roof / reachable_share_of(kernel));
}

double time_above_roof_of(kernel_facts const& kernel) noexcept {
  if (!kernel.figures.of_roof) return kernel.total_ns;
  if (cap_of(kernel) <= 0) return 0;
  auto const roof = reachable_share_of(kernel) / reachable_share;
  return kernel.total_ns * (1 - *kernel.figures.of_roof / roof);
}

std::vector<finding> share_kernel_caps(std::vector<finding> findings, run_facts const& facts) {
  std::map<std::size_t, std::vector<finding*>> by_kernel;
  for (auto& one : findings)
    if (one.claim != kernel_claim::none && one.kernel_line)
      by_kernel[*one.kernel_line].push_back(&one);
  for (auto& [line, on_it] : by_kernel) share_one(on_it, facts.kernels[line]);
  std::erase_if(findings, [](finding const& one) {
    return one.claim != kernel_claim::none && one.kernel_line && one.gain.high_ns <= 0;
  });
  return findings;
}

}  // namespace gpuprof::host::advice
