// SPDX-License-Identifier: Apache-2.0
// Chooses for each launch of a graph whether CUPTI records it as a whole or by its nodes.
#pragma once

#include "base/ledger.hpp"
#include "base/result.hpp"
#include "guest/collect/node_budget.hpp"
#include "guest/collect/switch_guard.hpp"
#include "guest/cupti/guard.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace gpuprof::guest {

/// State of a thread's call, from its entry to its end.
struct graph_call {
  CUgraphExec graph = nullptr;
  std::uint64_t entered_ns = 0;
  std::uint32_t generation = 0;
  std::uint32_t depth = 0;  // nested launches of this thread
  bool is_whole = false;
  bool instantiates = false;
  std::uint32_t epoch = 0, suspensions = 0;  // when an instantiation began
};

/// CUPTI records graphs as wholes while the kind GRAPH_TRACE is enabled. A graph that was
/// instantiated while it was disabled then makes the program crash in its launch (CUPTI 13.0.1,
/// H100 and H200; launched by nodes it works). So a graph is launched as a whole only if it is
/// known: its whole instantiation was seen, with GRAPH_TRACE enabled, since CUPTI was attached. For
/// the launch of any other graph GRAPH_TRACE is disabled at the entry and enabled again at the end.
///
/// Launches of both kinds on several threads take turns: launches of the level that is on may run
/// together, and those of the other level wait until they have returned. No call waits longer than
/// max_wait_ns. After that a known graph is launched by nodes; for an unknown graph GRAPH_TRACE is
/// disabled although other launches are inside, as at the end of a capture. Later launches then do
/// not wait until those have returned. No lock is held while CUPTI is called, or from the entry of
/// a launch to its end.
class graph_level {
 public:
  static constexpr std::uint64_t max_wait_ns = 5'000'000;
  /// After this many launches by nodes in a row GRAPH_TRACE stays disabled, because two switches
  /// for each launch take up to 70 us. A launch of a known graph or a new graph ends that.
  static constexpr std::uint32_t max_in_a_row = 32;
  static constexpr std::uint32_t first_by_nodes = 3, chosen_for_nothing = 64;  // at any price

  graph_level(cupti_api const& api, switch_guard& switches) noexcept
      : guard_(api), switches_(switches) {}

  /// `suspensions` changes when another client of CUPTI suspends GRAPH_TRACE, or ends that, and is
  /// odd meanwhile.
  void watch(std::atomic<std::uint32_t> const& suspensions) noexcept {
    suspensions_ = &suspensions;
  }

  // Called by the thread that starts and stops captures, which holds the switch_guard -------

  /// Requests graphs as wholes. Call it before launch callbacks are on; it does not enable anything
  /// yet. `some_by_nodes`: of each graph, the first launches are recorded by nodes, and as many of
  /// the others as node_budget allows, at random, if no other thread launches a graph at that
  /// moment.
  void begin(bool some_by_nodes = false, std::uint32_t budget_millionths = 0) noexcept;
  /// Call it as late as possible: launches that began before launch callbacks were on should have
  /// returned.
  result<void> switch_on();
  void end() noexcept;
  /// Call it when CUPTI was left. No graph is known any more.
  void forget() noexcept;
  /// CUPTI has shut itself down: it is not called any more.
  void abandon() noexcept { is_abandoned_.store(true); }

  /// Any thread. True: all launches are recorded by nodes until this is called again. Changes
  /// nothing unless some are anyway.
  void record_nodes(bool all) noexcept { records_nodes_.store(all); }

  // Called by threads of the program, inside callbacks -------------------------------

  void launch_enters(graph_call& own, CUgraphExec graph) noexcept;
  void launch_leaves(graph_call& own) noexcept {
    if (own.depth != 0) leave(own);
  }
  void instantiation_enters(graph_call& own) noexcept;
  void instantiation_leaves(graph_call& own) noexcept;
  /// Call it at the end of a call that makes a graph which is not executable yet.
  void graph_was_built() noexcept;
  /// Call these between captures too, because the address of a destroyed graph is used again.
  void made(graph_call const& own, CUgraphExec graph) noexcept;
  void gone(CUgraphExec graph) noexcept;
  /// Some graph cannot be computed from its other launches: from now on all are recorded by nodes.
  void need_nodes() noexcept { needs_nodes_.store(true); }
  /// This kernel goes into a graph. Some kernels wait for other GPUs, so that no other launch says
  /// how long they take.
  void captured(char const* kernel) noexcept;
  /// Its nodes have other parameters now.
  void was_changed(CUgraphExec graph) noexcept;

  // Any thread ------------------------------------------------------------------------

  /// Graphs that were launched by nodes though wholes were wanted, and these launches.
  std::uint64_t graphs_by_nodes() const noexcept { return graphs_by_nodes_.load(relaxed); }
  std::uint64_t launches_by_nodes() const noexcept { return launches_by_nodes_.load(relaxed); }
  /// Launches that waited for max_wait_ns without success.
  std::uint64_t waits_in_vain() const noexcept { return waits_in_vain_.load(relaxed); }
  /// Launches of graphs that could have been recorded as wholes, but were chosen.
  std::uint64_t launches_chosen() const noexcept { return launches_chosen_.load(relaxed); }
  void report(ledger& to) const {
    to.add("note.graph_launches_chosen", launches_chosen());
    to.add("note.graphs_by_nodes", graphs_by_nodes());
    to.add("note.graph_launches_by_nodes", launches_by_nodes());
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  using lock = std::unique_lock<std::mutex>;
  void leave(graph_call& own) noexcept;
  bool is_made(CUgraphExec graph) const noexcept { return made_.count(graph) != 0; }
  void account(graph_call const& own) noexcept;
  bool takes_all_by_nodes() const noexcept {
    return some_by_nodes_ &&
           (records_nodes_.load(relaxed) || needs_nodes_.load(relaxed) || budget_.one_in() == 1);
  }
  bool is_chosen(graph_call const& launch) noexcept;
  void note_other(CUgraphExec graph) noexcept;
  void wait_for_wholes(lock& held) noexcept;
  void wait_for_nodes(lock& held) noexcept;
  bool wait(lock& held, std::uint64_t until_ns) noexcept;
  template <class Condition>
  void wait_while(lock& held, std::uint64_t until_ns, Condition&& is_so) noexcept;
  void wait_for_switch(lock& held) noexcept;
  void switch_to_wholes_if_free(lock& held) noexcept;
  void switch_to(lock& held, bool whole) noexcept;
  bool in_cupti(bool whole) noexcept;
  void changed() noexcept;

  std::uint32_t suspensions() const noexcept {
    return suspensions_ != nullptr ? suspensions_->load() : 0;
  }

  cupti_guard const guard_;
  switch_guard& switches_;
  std::atomic<std::uint32_t> const* suspensions_ = nullptr;
  std::atomic<bool> is_wanted_{false}, is_abandoned_{false}, records_nodes_{false};
  std::atomic<bool> needs_nodes_{false};
  std::atomic<std::uint64_t> graphs_by_nodes_{0}, launches_by_nodes_{0}, launches_chosen_{0},
      waits_in_vain_{0};
  std::atomic<std::uint32_t> changes_{0};  // changes of members below; waiting threads watch it

  std::mutex mutex_;  // protects the rest; held briefly, never during CUPTI calls
  struct made_graph {
    std::uint32_t chosen = 0;       // of its first launches
    std::uint64_t launched_ns = 0;  // the latest
    node_budget::call_times times;
  };
  std::unordered_map<CUgraphExec, made_graph> made_;
  std::unordered_set<CUgraphExec> others_;
  bool some_by_nodes_ = false;
  node_budget budget_;
  std::uint64_t could_choose_ = 0, chosen_alone_ = 0;  // launches, while not all are by nodes
  std::uint32_t random_ = 0x9E3779B9u;
  std::uint32_t generation_ = 0;  // number of the capture; launches of earlier ones are ignored
  std::uint32_t epoch_ = 0;       // counts changes of the level
  bool is_whole_ = false;         // GRAPH_TRACE is enabled
  bool is_switching_ = false;     // a thread is inside CUPTI to change that
  std::uint32_t wholes_inside_ = 0, nodes_inside_ = 0;    // launches, by the level they began with
  std::uint32_t wholes_waiting_ = 0, nodes_waiting_ = 0;  // launches that wait
  std::uint32_t wholes_next_ = 0;  // these waited already: they go before launches by nodes
  std::uint32_t in_a_row_ = 0;     // launches by nodes in a row
  // A launch waited in vain for those inside, and they have not all returned since.
  bool wholes_stay_ = false, nodes_stay_ = false;
};

}  // namespace gpuprof::guest
