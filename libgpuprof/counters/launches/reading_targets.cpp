#include "counters/launches/reading_targets.hpp"

#include <algorithm>
#include <vector>

namespace gpuprof {
namespace {

using groups = launch_signature::groups;

groups missing(launch_signature const& kind, groups all) noexcept {
  return all & ~kind.done() & ~kind.hopeless() & ~kind.read_elsewhere();
}

/// It still comes, and is not the work of a phase that is over.
bool recurs(launch_signature& kind, std::uint64_t now_ns) noexcept {
  auto& recent = kind.recent;
  auto const launches = kind.launches();
  if (launches != recent.launches) recent.last_seen_ns = now_ns;
  recent.launches = launches;
  return launches >= reading_targets::min_launches &&
         now_ns - recent.last_seen_ns < reading_targets::is_over_after_ns;
}

bool runs_longer(launch_signature const& kind, std::uint64_t max_ns) noexcept {
  return kind.launches() != 0 && kind.gpu_ns() / kind.launches() > max_ns;
}

bool is_sampled(launch_signature const& kind) noexcept {
  auto const times = kind.recent.in_windows;
  if (times >= reading_targets::enough_in_windows) return true;
  return times >= reading_targets::enough_of_long && kind.launches() != 0 &&
         kind.gpu_ns() / kind.launches() * times >= reading_targets::enough_ns;
}

bool is_due_again(launch_signature const& kind) noexcept {
  auto const since = kind.recent.launches - kind.recent.read_at_launches;
  return since >= std::max(reading_targets::again_after, kind.recent.read_at_launches);
}

}  // namespace

void reading_targets::window_begins(launch_signatures const& all) noexcept {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (auto* const kind = all.at(i)) kind->recent.at_window = kind->launches();
}

void reading_targets::window_ends(launch_signatures const& all) noexcept {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (auto* const kind = all.at(i))
      kind->recent.in_windows += kind->launches() - kind->recent.at_window;
}

reading_targets::outlook reading_targets::choose(launch_signatures const& all,
                                                 what_can_be_read const& readable, bool may_repeat,
                                                 std::uint64_t now_ns) {
  std::vector<launch_signature*> recurring;
  double time = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto* const kind = all.at(i);
    if (kind == nullptr) continue;
    kind->recent.is_target = false;
    if (!recurs(*kind, now_ns) || kind->is() == launch_signature::standing::deciding) continue;
    if (kind->is() != launch_signature::standing::allowed) kind->give_up(readable.groups);
    // Samples tell of the others.
    if (kind->varies() || runs_longer(*kind, readable.max_ns)) kind->give_up(readable.groups);
    if (readable.useless_to) kind->give_up(readable.useless_to(*kind));
    if (may_repeat && missing(*kind, readable.groups) == 0 && is_due_again(*kind))
      kind->begin_again();
    recurring.push_back(kind);
    time += static_cast<double>(kind->gpu_ns());
  }
  std::sort(recurring.begin(), recurring.end(),
            [](auto const* a, auto const* b) { return a->gpu_ns() > b->gpu_ns(); });
  outlook found;
  double covered = 0, unknown = 0, sampled = 0;
  for (auto* const kind : recurring) {
    auto const is_known = missing(*kind, readable.groups) == 0;
    // While no kernel record has come all are alike.
    auto const can_wait = runs_longer(*kind, readable.affordable_ns);
    if (covered <= wanted_share * time && !is_known && !can_wait) {
      kind->recent.is_target = true;
      ++found.wanted;
      found.groups |= missing(*kind, readable.groups);
      unknown += static_cast<double>(kind->gpu_ns());
    }
    if (is_sampled(*kind)) sampled += static_cast<double>(kind->gpu_ns());
    covered += static_cast<double>(kind->gpu_ns());
  }
  found.sampled_share = time > 0 ? sampled / time : 0;
  found.unknown_share = time > 0 ? unknown / time : (found.wanted != 0 ? 1 : 0);
  return found;
}

}  // namespace gpuprof
