// SPDX-License-Identifier: Apache-2.0
#include "guest/collect/graph_level.hpp"

#include "base/futex.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

namespace gpuprof::guest {
namespace {

constexpr auto whole_graphs = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;

// CUPTI switches in 8 to 35 us. If it never returns, launches go on after this time.
constexpr std::uint64_t max_switch_ns = 1'000'000'000;
constexpr std::uint64_t looks_again_ns = 1'000'000;
// node_times forgets a graph after a minute without a launch.
constexpr std::uint64_t known_for_ns = 30'000'000'000;

// Parts of names of collectives: NCCL, NVSHMEM, and those of serving engines.
constexpr std::string_view kernels_that_wait[] = {"nccl",       "nvshmem",   "all_reduce",
                                                  "all_gather", "allreduce", "cross_device_reduce"};

}  // namespace

void graph_level::changed() noexcept {
  changes_.fetch_add(1);
  futex_wake(changes_);
}

/// Waits for a change; releases the lock meanwhile. Returns false if the time is up.
bool graph_level::wait(lock& held, std::uint64_t until_ns) noexcept {
  auto const seen = changes_.load();
  auto const moment = monotonic_ns();
  if (moment >= until_ns) return false;
  held.unlock();
  futex_wait(changes_, seen, std::min(until_ns - moment, looks_again_ns));
  held.lock();
  return true;
}

/// Waits until `is_so` is false, or the time is up, or another launch has waited in vain.
template <class Condition>
void graph_level::wait_while(lock& held, std::uint64_t until_ns, Condition&& is_so) noexcept {
  while (is_so()) {
    if ((is_whole_ ? wholes_stay_ : nodes_stay_) && !is_switching_) return;
    if (wait(held, until_ns)) continue;
    if (!is_so()) return;
    (is_whole_ ? wholes_stay_ : nodes_stay_) = true;
    waits_in_vain_.fetch_add(1, relaxed);
    return;
  }
}

void graph_level::wait_for_switch(lock& held) noexcept {
  auto const until = monotonic_ns() + max_switch_ns;
  while (is_switching_ && wait(held, until)) {
  }
}

void graph_level::begin(bool some_by_nodes, std::uint32_t budget_millionths) noexcept {
  lock held(mutex_);
  some_by_nodes_ = some_by_nodes;
  budget_.begin(budget_millionths);
  for (auto& [_, made] : made_) made.chosen = 0;
  ++generation_;
  wholes_inside_ = nodes_inside_ = wholes_next_ = in_a_row_ = 0;
  wholes_stay_ = nodes_stay_ = false;
  is_wanted_.store(true);
}

// The caller already holds the switch_guard, here and in end().
result<void> graph_level::switch_on() {
  lock held(mutex_);
  if (is_switching_ || nodes_inside_ != 0) return {};  // the last launch inside enables it
  is_switching_ = true;
  held.unlock();
  auto const done = guard_.call<&cupti_api::cuptiActivityEnable>(whole_graphs);
  held.lock();
  is_switching_ = false;
  is_whole_ = bool(done);
  ++epoch_;
  changed();
  return done;
}

void graph_level::end() noexcept {
  lock held(mutex_);
  is_wanted_.store(false);
  ++generation_;
  wait_for_switch(held);
  auto const was_whole = std::exchange(is_whole_, false);
  ++epoch_;
  held.unlock();
  if (was_whole && !is_abandoned_.load())
    guard_.try_call<&cupti_api::cuptiActivityDisable>(whole_graphs);
  held.lock();
  wholes_inside_ = nodes_inside_ = 0;
  changed();
}

void graph_level::forget() noexcept {
  lock held(mutex_);
  is_wanted_.store(false);
  is_whole_ = false;
  ++generation_;
  ++epoch_;
  wholes_inside_ = nodes_inside_ = 0;
  made_.clear();
  others_.clear();
  changed();
}

void graph_level::captured(char const* kernel) noexcept {
  if (kernel == nullptr || needs_nodes_.load(relaxed)) return;
  std::string_view const name(kernel);
  for (auto const part : kernels_that_wait)
    if (name.find(part) != std::string_view::npos) need_nodes();
}

void graph_level::was_changed(CUgraphExec graph) noexcept {
  lock const held(mutex_);
  if (auto const made = made_.find(graph); made != made_.end()) made->second = {};
}

bool graph_level::in_cupti(bool whole) noexcept {
  if (is_abandoned_.load()) return false;
  auto const saved_errno = errno;
  auto done = false;
  if (whole) {
    if (switches_.enter()) {  // fails while code is unloaded: the next launch that ends tries again
      done = guard_.try_call<&cupti_api::cuptiActivityEnable>(whole_graphs);
      switches_.leave();
    }
  } else {
    switches_.enter_at_last();
    done = guard_.try_call<&cupti_api::cuptiActivityDisable>(whole_graphs);
    switches_.leave();
  }
  errno = saved_errno;
  return done;
}

void graph_level::switch_to(lock& held, bool whole) noexcept {
  is_switching_ = true;
  held.unlock();
  auto const done = in_cupti(whole);
  held.lock();
  is_switching_ = false;
  if (done) is_whole_ = whole;
  wholes_next_ = is_whole_ ? wholes_waiting_ : 0;
  ++epoch_;
  changed();
}

void graph_level::switch_to_wholes_if_free(lock& held) noexcept {
  if (!is_wanted_.load() || is_whole_ || is_switching_ || nodes_inside_ != 0) return;
  switch_to(held, true);
}

/// A launch of a known graph waits until graphs are recorded as wholes, if a switch to that will
/// come. Waiting launches by nodes go first, unless this launch has already waited for others by
/// nodes.
void graph_level::wait_for_wholes(lock& held) noexcept {
  auto const until = monotonic_ns() + max_wait_ns;
  auto const is_others_turn = [this] {
    if (is_switching_) return true;
    return is_whole_ ? nodes_waiting_ != 0 && wholes_next_ == 0 : nodes_inside_ != 0;
  };
  ++wholes_waiting_;
  wait_while(held, until, [&] { return is_wanted_.load() && is_others_turn(); });
  --wholes_waiting_;
  if (wholes_next_ != 0) --wholes_next_;
}

/// Afterwards GRAPH_TRACE is disabled, unless CUPTI refuses.
void graph_level::wait_for_nodes(lock& held) noexcept {
  auto const until = monotonic_ns() + max_wait_ns;
  auto const is_others_turn = [this] {
    if (is_switching_) return true;
    return is_whole_ ? wholes_inside_ + wholes_next_ != 0 : wholes_waiting_ * nodes_inside_ != 0;
  };
  ++nodes_waiting_;
  wait_while(held, until, is_others_turn);
  wait_for_switch(held);
  if (is_whole_) switch_to(held, false);
  --nodes_waiting_;
  changed();
}

/// If memory runs out, the graph is not counted.
void graph_level::note_other(CUgraphExec graph) noexcept {
  launches_by_nodes_.fetch_add(1, relaxed);
  ++in_a_row_;
  try {
    if (others_.insert(graph).second) graphs_by_nodes_.fetch_add(1, relaxed);
  } catch (...) {
  }
}

/// The first launch of a graph is chosen at any price: without it nothing would be known of the
/// others but their length. Later ones that are chosen cost two switches, and would make launches
/// of other threads wait. A program that makes a new graph for every few launches has no more of
/// these chosen than any other.
bool graph_level::is_chosen(graph_call const& launch) noexcept {
  if (!some_by_nodes_) return false;
  auto& made = made_.find(launch.graph)->second;
  auto const paused_ns = launch.entered_ns - std::exchange(made.launched_ns, launch.entered_ns);
  if (takes_all_by_nodes()) return true;
  if (made.chosen == 0 || paused_ns > known_for_ns) {
    ++made.chosen;
    return true;
  }
  if (!is_whole_ || is_switching_) return false;
  if (wholes_inside_ + wholes_waiting_ + nodes_waiting_ != 0) return false;
  ++could_choose_;
  auto const one_in = budget_.one_in();
  if (chosen_alone_ > chosen_for_nothing + 2 * could_choose_ / one_in) return false;
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  auto const is_first = made.chosen < first_by_nodes;
  if (!is_first && random_ % one_in != 0) return false;
  if (is_first) ++made.chosen;
  ++chosen_alone_;
  return true;
}

void graph_level::launch_enters(graph_call& own, CUgraphExec graph) noexcept {
  if (!is_wanted_.load(relaxed)) {
    own.depth = 0;
    return;
  }
  lock held(mutex_);
  auto const is_known = is_made(graph);
  if (own.depth != 0 && own.generation == generation_) {  // inside another launch: it does not wait
    ++own.depth;
    if (is_known || !is_whole_) return;
    note_other(graph);
    wait_for_switch(held);
    if (is_whole_) switch_to(held, false);
    return;
  }
  own.depth = 1;
  own.graph = graph;
  own.entered_ns = some_by_nodes_ ? monotonic_ns() : 0;
  if (is_known)
    in_a_row_ = 0;
  else
    note_other(graph);
  auto const is_chosen_now = is_known && is_chosen(own);
  if (is_chosen_now) launches_chosen_.fetch_add(1, relaxed);
  do {  // the capture may end while this waits, and another begin
    own.generation = generation_;
    is_known && !is_chosen_now ? wait_for_wholes(held) : wait_for_nodes(held);
  } while (own.generation != generation_ && is_wanted_.load());
  own.is_whole = is_whole_;
  if (is_known && !is_chosen_now && !own.is_whole) launches_by_nodes_.fetch_add(1, relaxed);
  if (own.generation != generation_) return;
  ++(own.is_whole ? wholes_inside_ : nodes_inside_);
}

void graph_level::account(graph_call const& own) noexcept {
  auto const made = made_.find(own.graph);
  if (own.entered_ns == 0 || made == made_.end()) return;
  auto const moment = monotonic_ns();
  budget_.add(made->second.times, own.is_whole, moment - own.entered_ns, moment);
}

void graph_level::leave(graph_call& own) noexcept {
  if (--own.depth != 0) return;
  lock held(mutex_);
  if (own.generation != generation_) return;
  account(own);
  auto& inside = own.is_whole ? wholes_inside_ : nodes_inside_;
  if (--inside == 0) (own.is_whole ? wholes_stay_ : nodes_stay_) = false;
  auto const stays = in_a_row_ >= max_in_a_row || takes_all_by_nodes();
  if (!stays || wholes_waiting_ != 0) switch_to_wholes_if_free(held);
  changed();
}

void graph_level::instantiation_enters(graph_call& own) noexcept {
  own.instantiates = false;
  if (!is_wanted_.load(relaxed)) return;
  lock const held(mutex_);
  own.epoch = epoch_;
  own.suspensions = suspensions();
  own.instantiates = is_whole_ && !is_switching_ && own.suspensions % 2 == 0;
}

void graph_level::instantiation_leaves(graph_call& own) noexcept {
  own.instantiates = false;
  graph_was_built();
}

void graph_level::graph_was_built() noexcept {
  if (!is_wanted_.load(relaxed)) return;
  lock held(mutex_);
  in_a_row_ = 0;
  switch_to_wholes_if_free(held);
}

/// The graph is known only if GRAPH_TRACE was on without a break since its instantiation began.
void graph_level::made(graph_call const& own, CUgraphExec graph) noexcept {
  lock const held(mutex_);
  others_.erase(graph);
  auto const is_known = is_wanted_.load() && own.instantiates && is_whole_ && !is_switching_ &&
                        own.epoch == epoch_ && own.suspensions == suspensions();
  if (!is_known) {
    made_.erase(graph);
    return;
  }
  try {
    made_[graph] = {};
  } catch (...) {  // out of memory: the graph is launched by nodes
  }
}

void graph_level::gone(CUgraphExec graph) noexcept {
  lock const held(mutex_);
  made_.erase(graph);
  others_.erase(graph);
}

}  // namespace gpuprof::guest
