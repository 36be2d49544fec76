// SPDX-License-Identifier: Apache-2.0
#include "advise/kernel_caps.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace gpuprof::advise {
namespace {

/// So much of a cap explained silences symptoms and remainder.
constexpr double explained_share = 0.1;

/// What is left of one kernel's time and of its distance to the roof.
struct budget {
  double time, distance, cap;
  bool is_explained() const noexcept { return cap - distance >= explained_share * cap; }

  double take(kernel_claim claim, double wanted) noexcept {
    auto const taken =
        std::min(wanted, claim == kernel_claim::other_work ? time : std::min(distance, time));
    time -= taken;
    distance = std::max(0.0, distance - taken);
    return taken;
  }
};

bool yields(kernel_claim claim) noexcept {
  return claim == kernel_claim::symptom || claim == kernel_claim::remainder;
}

/// Sets gains; those that are to be dropped keep none.
void share_one(std::span<finding*> on_kernel, kernel_facts const& kernel) {
  std::stable_sort(on_kernel.begin(), on_kernel.end(), [](finding const* a, finding const* b) {
    return std::tuple(a->claim, a->gain.high_ns) > std::tuple(b->claim, b->gain.high_ns);
  });
  auto const cap = cap_of(kernel);
  budget left{kernel.total_ns, cap, cap};
  auto& lead = *on_kernel.front();
  auto last = kernel_claim::none;
  bool is_explained = false;
  for (auto* const one : on_kernel) {
    if (one->claim != last) is_explained = left.is_explained();
    last = one->claim;
    auto const silent = yields(one->claim) && one != &lead && is_explained;
    one->gain.high_ns = silent ? 0 : left.take(one->claim, one->gain.high_ns);
    one->gain.low_ns = std::min(one->gain.low_ns, one->gain.high_ns);
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

}  // namespace gpuprof::advise
