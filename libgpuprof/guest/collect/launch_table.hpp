// SPDX-License-Identifier: Apache-2.0
// Remembers recent launches by correlation id, until the records of their kernels and copies
// arrive.
#pragma once

#include "base/time.hpp"
#include "guest/nvtx/log_entry.hpp"
#include "model/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuprof::guest {

struct launch {
  static constexpr int name_bits = 24;  // the registry has place for two million

  timestamp_ns time;
  range_id range{};
  correlation_id correlation{};
  thread_index thread{};
  std::uint32_t arguments = 0;  // as in launch_note
  stack_id stack{};
  name_id kernel : name_bits = name_id{};  // 0: unknown, or not a single kernel
  std::uint32_t flags : 6 = 0;             // launch_flags
  bool matched : 1 = false;                // at least one record has arrived
  bool given_up : 1 = false;               // no code waits for its record any more

  bool is_graph() const noexcept { return flags == launch_of_graph; }
  bool is_copy() const noexcept { return flags == launch_is_copy; }
  /// The generation of kernel_names when a graph was launched; 0 for kernels.
  std::uint16_t generation() const noexcept {
    return static_cast<std::uint16_t>(is_graph() ? arguments : 0);
  }
};

static_assert(sizeof(launch) == 40);  // up to a million are kept

/// One thread. Correlation ids count up, so their low bits give the place of an entry. The table
/// grows, up to `most` entries, if a new entry would overwrite one that still waits for a record;
/// after that it overwrites, and the records of those launches stay without thread and range. Graph
/// launches are set aside instead, because their records arrive as long as the graph runs.
class launch_table {
 public:
  explicit launch_table(std::size_t least = 1 << 14, std::size_t most = 1 << 20)
      : most_(most), slots_(least) {}

  void insert(launch const& l) {
    newest_time_ = std::max(newest_time_, l.time);
    auto* slot = &slots_[place(l.correlation)];
    while (in_the_way(*slot, l) && slots_.size() < most_) {
      grow();
      slot = &slots_[place(l.correlation)];
    }
    if (in_the_way(*slot, l)) note_forgotten(*slot);
    if (slot->is_graph() && slot->correlation != l.correlation) set_aside(*slot);
    *slot = l;
    if (!std::exchange(any_, true)) next_ = newest_ = l.correlation;
    if (is_before(l.correlation, next_)) next_ = l.correlation;
    if (is_before(newest_, l.correlation)) newest_ = l.correlation;
  }

  /// `began`: when the work began; 0: unknown. Returns null if the launch with this id is so old
  /// that the work belongs to another one.
  launch* find(correlation_id correlation, timestamp_ns began = {}) noexcept {
    auto* const found = anywhere(correlation);
    return found == nullptr || is_outdated(*found, began) ? nullptr : found;
  }

  /// Returns the launch with the lowest correlation id for which waits(launch const&) is true, or
  /// nullptr. A launch for which it was once false may not be checked again, so all calls together
  /// look at each launch about once.
  template <class F>
  launch* oldest(F waits) noexcept {
    auto* found = oldest_in_slots(waits);
    for (auto& [_, graph] : aside_) {
      if (graph.is.given_up || !waits(std::as_const(graph.is))) continue;
      if (found == nullptr || is_before(graph.is.correlation, found->correlation))
        found = &graph.is;
    }
    return found;
  }

  /// Forgets all, keeps the memory.
  void clear() {
    slots_.assign(slots_.size(), launch{});
    aside_.clear();
    any_ = false;
  }

  /// Launches that were overwritten before the last of their records had arrived, or possibly
  /// before.
  std::uint64_t overwritten() const noexcept { return overwritten_; }
  /// The kernels and graphs among them for which no record had arrived.
  std::uint64_t kernels_forgotten() const noexcept { return kernels_forgotten_; }
  std::uint64_t graphs_forgotten() const noexcept { return graphs_forgotten_; }
  std::size_t bytes() const noexcept {
    return slots_.size() * sizeof(launch) + aside_.size() * sizeof(decltype(aside_)::value_type);
  }

 private:
  struct graph_aside {
    launch is;
    timestamp_ns asked_for;  // newest_time_ when it was last looked up
  };
  static constexpr std::size_t max_aside = 1 << 16;
  // A copy's record arrives with the next flush. Copies from host to host have none.
  static constexpr duration_ns copies_wait{2'000'000'000}, graphs_last{5'000'000'000},
      graphs_last_in_need{200'000'000};
  static constexpr duration_ns tidied_every{500'000'000};

  /// True if `there` still waits for a record and is another launch than `wanted`: the same launch
  /// noted twice would stay in one place however much the table grows.
  bool in_the_way(launch const& there, launch const& wanted) const noexcept {
    if (raw(there.correlation) == 0 || there.correlation == wanted.correlation) return false;
    if (there.matched || there.given_up || there.is_graph()) return false;
    return !there.is_copy() || there.time + copies_wait >= newest_time_;
  }
  static bool is_outdated(launch const& l, timestamp_ns began) noexcept {
    return (l.matched || l.is_copy()) && !are_of_one_call(l.time, began);
  }
  std::size_t place(correlation_id c) const noexcept { return raw(c) & (slots_.size() - 1); }
  void grow() {
    std::vector<launch> bigger(slots_.size() * 2);
    bigger.swap(slots_);
    for (auto const& l : bigger) {
      if (raw(l.correlation) != 0) slots_[place(l.correlation)] = l;
    }
  }
  void note_forgotten(launch const& l) noexcept {
    ++overwritten_;
    if (!l.matched && l.flags == 0) ++kernels_forgotten_;
    if (!l.matched && l.is_graph()) ++graphs_forgotten_;
  }

  void set_aside(launch const& graph) {
    if (tidied_ + tidied_every < newest_time_ || aside_.size() >= max_aside) tidy();
    if (aside_.size() < max_aside || aside_.contains(raw(graph.correlation)))
      aside_.insert_or_assign(raw(graph.correlation), graph_aside{graph, newest_time_});
    else
      note_forgotten(graph);
  }
  /// Releases graphs that have finished (sooner if there is no room) and those whose records are no
  /// longer expected.
  void tidy() {
    auto const last = aside_.size() < max_aside ? graphs_last : graphs_last_in_need;
    std::erase_if(aside_, [&](auto const& entry) {
      auto const& graph = entry.second;
      if (graph.is.matched) return graph.asked_for + last < newest_time_;
      return graph.is.given_up && graph.asked_for + graphs_last < newest_time_;
    });
    tidied_ = newest_time_;
  }

  launch* in_slots(correlation_id correlation) noexcept {
    auto& slot = slots_[place(correlation)];
    return slot.correlation == correlation && raw(correlation) != 0 ? &slot : nullptr;
  }
  launch* anywhere(correlation_id correlation) noexcept {
    if (auto* const found = in_slots(correlation)) return found;
    if (aside_.empty()) return nullptr;
    auto const found = aside_.find(raw(correlation));
    if (found == aside_.end()) return nullptr;
    found->second.asked_for = newest_time_;
    return &found->second.is;
  }

  template <class F>
  launch* oldest_in_slots(F waits) noexcept {
    auto const find_next = [&]() -> launch* {
      auto* const found = in_slots(next_);
      return found != nullptr && waits(std::as_const(*found)) ? found : nullptr;
    };
    if (!any_) return nullptr;
    if (auto* const still = find_next()) return still;
    if (raw(newest_) - raw(next_) >= slots_.size()) skip_what_is_not_here(waits);
    for (; next_ != after(newest_, 1); next_ = after(next_, 1))
      if (auto* const found = find_next()) return found;
    return nullptr;
  }
  template <class F>
  void skip_what_is_not_here(F waits) noexcept {
    auto ahead = raw(newest_) + 1 - raw(next_);
    for (auto const& l : slots_)
      if (raw(l.correlation) != 0 && waits(l))
        ahead = std::min(ahead, raw(l.correlation) - raw(next_));
    next_ = after(next_, ahead);
  }
  static correlation_id after(correlation_id c, std::uint32_t by) noexcept {
    return static_cast<correlation_id>(raw(c) + by);
  }

  std::size_t const most_;
  std::vector<launch> slots_;
  std::unordered_map<std::uint32_t, graph_aside> aside_;
  timestamp_ns newest_time_, tidied_;
  std::uint64_t overwritten_ = 0, kernels_forgotten_ = 0, graphs_forgotten_ = 0;
  bool any_ = false;                  // a launch was inserted
  correlation_id next_{}, newest_{};  // oldest() searches from next_ to newest_
};

}  // namespace gpuprof::guest
