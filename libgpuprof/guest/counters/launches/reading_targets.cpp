// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/reading_targets.hpp"

#include <algorithm>
#include <vector>

namespace gpuprof::guest {
namespace {

using groups = launch_signature::groups;

groups missing(launch_signature const& signature, groups all) noexcept {
  return all & ~signature.done() & ~signature.hopeless() & ~signature.read_elsewhere();
}

/// True if it still recurs and is not from a phase that is over.
bool recurs(launch_signature& signature, std::uint64_t now_ns) noexcept {
  auto& recent = signature.recent;
  auto const launches = signature.launches();
  if (launches != recent.launches) recent.last_seen_ns = now_ns;
  recent.launches = launches;
  return launches >= reading_targets::min_launches &&
         now_ns - recent.last_seen_ns < reading_targets::is_over_after_ns;
}

bool runs_longer(launch_signature const& signature, std::uint64_t max_ns) noexcept {
  return signature.launches() != 0 && signature.gpu_ns() / signature.launches() > max_ns;
}

bool is_sampled(launch_signature const& signature) noexcept {
  auto const times = signature.recent.in_windows;
  if (times >= reading_targets::enough_in_windows) return true;
  return times >= reading_targets::enough_of_long && signature.launches() != 0 &&
         signature.gpu_ns() / signature.launches() * times >= reading_targets::enough_ns;
}

bool is_due_again(launch_signature const& signature) noexcept {
  auto const since = signature.recent.launches - signature.recent.read_at_launches;
  return since >= std::max(reading_targets::again_after, signature.recent.read_at_launches);
}

}  // namespace

void reading_targets::window_begins(launch_signatures const& all) noexcept {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (auto* const signature = all.at(i)) signature->recent.at_window = signature->launches();
}

void reading_targets::window_ends(launch_signatures const& all) noexcept {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (auto* const signature = all.at(i))
      signature->recent.in_windows += signature->launches() - signature->recent.at_window;
}

reading_targets::outlook reading_targets::choose(launch_signatures const& all,
                                                 what_can_be_read const& readable, bool may_repeat,
                                                 std::uint64_t now_ns) {
  std::vector<launch_signature*> recurring;
  double time = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto* const signature = all.at(i);
    if (signature == nullptr) continue;
    signature->recent.is_target = false;
    if (!recurs(*signature, now_ns) || signature->is() == launch_signature::standing::deciding)
      continue;
    if (signature->is() != launch_signature::standing::allowed) signature->give_up(readable.groups);
    // Sampling covers those that are given up here.
    if (signature->varies() || runs_longer(*signature, readable.max_ns))
      signature->give_up(readable.groups);
    if (readable.useless_to) signature->give_up(readable.useless_to(*signature));
    if (may_repeat && missing(*signature, readable.groups) == 0 && is_due_again(*signature))
      signature->begin_again();
    recurring.push_back(signature);
    time += static_cast<double>(signature->gpu_ns());
  }
  std::sort(recurring.begin(), recurring.end(),
            [](auto const* a, auto const* b) { return a->gpu_ns() > b->gpu_ns(); });
  outlook found;
  double covered = 0, unknown = 0, sampled = 0;
  for (auto* const signature : recurring) {
    auto const is_known = missing(*signature, readable.groups) == 0;
    // Before the first kernel record arrives, all have a time of 0.
    auto const can_wait = runs_longer(*signature, readable.affordable_ns);
    if (covered <= wanted_share * time && !is_known && !can_wait) {
      signature->recent.is_target = true;
      ++found.wanted;
      found.groups |= missing(*signature, readable.groups);
      unknown += static_cast<double>(signature->gpu_ns());
    }
    if (is_sampled(*signature)) sampled += static_cast<double>(signature->gpu_ns());
    covered += static_cast<double>(signature->gpu_ns());
  }
  found.sampled_share = time > 0 ? sampled / time : 0;
  found.unknown_share = time > 0 ? unknown / time : (found.wanted != 0 ? 1 : 0);
  return found;
}

}  // namespace gpuprof::guest
