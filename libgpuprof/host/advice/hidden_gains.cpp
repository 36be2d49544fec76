// SPDX-License-Identifier: Apache-2.0
#include "host/advice/hidden_gains.hpp"

#include "host/advice/bottleneck.hpp"
#include "host/advice/rules/words.hpp"
#include "host/advice/step_bound.hpp"
#include "host/advice/wording.hpp"

#include <algorithm>

namespace gpuprof::advise {
namespace {

double share_of(double part, kernel_facts const& kernel) {
  return kernel.total_ns > 0 ? std::clamp(part / kernel.total_ns, 0.0, 1.0) : 0;
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
    one.gain.low_ns *= std::min(followed, share_of(kernel.alone_ns, kernel));
    if (!held || followed >= 0.5) continue;
    one.is_hidden_by_launches = true;
    one.gain.high_ns *= followed;
    one.gain.low_ns = std::min(one.gain.low_ns, one.gain.high_ns);
    one.to_do += " The launching thread holds the program: only " + in_percent(followed) +
                 " of this kernel's time had the next kernel already queued, and only there a "
                 "shorter kernel saves time. Launch less or faster first.";
  }
}

}  // namespace gpuprof::advise
