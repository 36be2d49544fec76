// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/node_times.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <type_traits>
#include <utility>

namespace gpuprof::guest {
namespace {

// A launch with less work may have lost records. After so many the graph itself has become
// smaller: nodes of a graph can be disabled.
constexpr unsigned smaller_is_believed = 3;
// A graph with so many launches by nodes, and none as a whole, is likely to stay so.
constexpr std::size_t most_without_whole = 8;
// The records of a launch come before those of launches that are so much later.
constexpr std::ptrdiff_t most_at_once = 64;
// A program may make graphs for ever. One that was not launched for so long is forgotten.
constexpr std::uint64_t forgotten_after_ns = 60'000'000'000;

std::uint64_t end_of(auto const& work) noexcept {
  return work.start.value + static_cast<std::uint64_t>(work.duration.value);
}

/// `place`: where it is likely to be.
kernel_record const* find_node(auto const& launch, graph_node_id node, std::size_t place) noexcept {
  if (place < launch.work.size() && launch.work[place].node == node) return &launch.work[place];
  auto const found = std::ranges::find(launch.work, node, &kernel_record::node);
  return found != launch.work.end() ? &*found : nullptr;
}

void belong_to(auto& work, auto const& launch) noexcept {
  work.launched = launch.launched;
  work.correlation = launch.correlation;
  work.thread = launch.thread;
  work.range = launch.range;
  work.stack = launch.stack;
}

void run_like(auto& work, auto const& other) noexcept {
  work.start = other.start;
  work.duration = other.duration;
  work.device = other.device;
  work.context = other.context;
  work.stream = other.stream;
}

}  // namespace

/// Returns null if the work is not to be kept.
node_times::launch_by_nodes* node_times::launch_of(kernel_record const& work) {
  // CUPTI 13.0.1 does not say to which launch kernels inside of conditional nodes belong.
  lacks_launches_ = lacks_launches_ || (raw(work.graph) != 0 && raw(work.correlation) == 0);
  if (raw(work.graph) == 0 || raw(work.node) == 0 || raw(work.correlation) == 0) return nullptr;
  auto& of = graphs_[work.graph];
  auto& launches = of.launches;
  auto const is_of_it = [&](auto const& launch) { return launch.correlation == work.correlation; };
  auto const last =
      std::ssize(launches) > most_at_once ? launches.rbegin() + most_at_once : launches.rend();
  auto launch = std::find_if(launches.rbegin(), last, is_of_it);
  if (launch == last) {
    auto& added = launches.emplace_back();
    added.correlation = work.correlation;
    added.first_start = work.start.value;
    launch = launches.rbegin();
    if (!of.has_wholes) ++of.by_nodes;
    if (of.is_never_whole()) of.first_end = 0;  // those before are complete
  }
  auto const end = end_of(work);
  launch->first_start = std::min(launch->first_start, work.start.value);
  launch->last_end = std::max(launch->last_end, end);
  of.last_use = std::max(of.last_use, end);
  of.first_end = std::min(of.first_end, end);
  first_end_ = std::min(first_end_, of.first_end);
  return &*launch;
}

bool node_times::graph::is_never_whole() const noexcept {
  return !has_wholes && by_nodes >= most_without_whole;
}

bool node_times::graph::is_complete() const noexcept {
  if (known.empty()) return false;
  auto const work = known.back().work.size();
  return std::ranges::all_of(launches, [&](auto const& one) { return one.work.size() >= work; });
}

bool node_times::keep(kernel_record const& kernel) {
  auto* const launch = launch_of(kernel);
  if (launch != nullptr) launch->work.push_back({kernel});
  return launch != nullptr;
}

template <class Moved>
bool node_times::keep_moved(Moved const& moved) {
  node_work work;
  work.graph = moved.graph;
  work.node = moved.node;
  run_like(work, moved);
  belong_to(work, moved);
  auto* const launch = launch_of(work);
  if (launch == nullptr) return false;
  launch->moved.emplace_back(moved);
  work.moved = static_cast<std::uint32_t>(launch->moved.size());
  launch->work.push_back(work);
  return true;
}
template bool node_times::keep_moved(copy_record const&);
template bool node_times::keep_moved(memset_record const&);

void node_times::pass(launch_by_nodes const& from, node_work const& work, receiver const& to) {
  if (work.moved == 0) return to.kernel(work);
  std::visit(
      [&](auto moved) {
        run_like(moved, work);
        belong_to(moved, work);
        moved.time_of = work.time_of;
        if constexpr (std::is_same_v<decltype(moved), copy_record>)
          to.copy(moved);
        else
          to.fill(moved);
      },
      from.moved[work.moved - 1]);
}

void node_times::add(graph_record const& whole) {
  auto& of = graphs_[whole.graph];
  of.has_wholes = true;
  of.wholes.push_back(whole);
  of.last_use = std::max(of.last_use, end_of(whole));
  of.first_end = std::min(of.first_end, end_of(whole));
  first_end_ = std::min(first_end_, of.first_end);
}

/// Forgets the launch before if no whole needs it.
void node_times::learn(graph& of, launch_by_nodes launch) {
  if (!of.known.empty() && launch.work.size() < of.known.back().work.size() &&
      ++of.smaller < smaller_is_believed)
    return;
  of.smaller = 0;
  auto const first = launch.work.front().start.value;
  for (auto const& work : launch.work) {
    auto const begin = work.start.value - first, end = end_of(work) - first;
    if (launch.busy.empty() || begin > launch.busy.back().end)
      launch.busy.push_back({begin, end});
    else
      launch.busy.back().end = std::max(launch.busy.back().end, end);
  }
  for (auto const& one : launch.busy) launch.busy_ns += one.end - one.begin;
  if (!of.known.empty()) {
    auto const& before = of.known.back().work.front().start;
    auto const next = std::ranges::upper_bound(of.wholes, before, {}, &graph_record::start);
    if (next == of.wholes.end() || next->start.value > first) of.known.pop_back();
  }
  of.known.push_back(std::move(launch));
}

/// A launch by nodes has longer pauses between its kernels. So kernels, copies and fills keep their
/// lengths, and the pauses are made as short as the whole launch was. If that is too short even
/// without pauses, the work becomes shorter.
void node_times::compute(launch_by_nodes const& known, graph_record const& whole,
                         correlation_id times_from, receiver const& to) {
  auto const length = static_cast<double>(whole.duration.value);
  auto const busy = static_cast<double>(known.busy_ns);
  auto const pauses = static_cast<double>(known.busy.back().end) - busy;
  auto const of_busy = busy > length ? length / busy : 1.0;
  auto const of_pauses = pauses > 0 ? std::max(length - busy, 0.0) / pauses : 0.0;
  auto const& first = known.work.front();
  auto stretch = known.busy.begin();
  double begin = 0;  // of this stretch, in the launch that is computed
  for (auto work : known.work) {
    auto const since = work.start.value - first.start.value;
    for (; since > stretch->end && stretch + 1 != known.busy.end(); ++stretch)
      begin += of_busy * static_cast<double>(stretch->end - stretch->begin) +
               of_pauses * static_cast<double>((stretch + 1)->begin - stretch->end);
    auto const start = begin + of_busy * static_cast<double>(since - stretch->begin);
    work.start = {whole.start.value + static_cast<std::uint64_t>(std::llround(start))};
    work.duration = {std::llround(of_busy * static_cast<double>(work.duration.value))};
    // Branches of a graph run on streams of their own.
    if (work.stream == first.stream) work.stream = whole.stream;
    if (work.context == first.context) work.context = whole.context;
    if (work.device == first.device) work.device = whole.device;
    belong_to(work, whole);
    work.time_of = times_from;
    pass(known, work, to);
  }
}

/// The latest that ran before, else the first one.
node_times::launch_by_nodes const& node_times::known_at(graph const& of,
                                                        timestamp_ns time) noexcept {
  auto const is_later = [&](auto const& one) { return one.work.front().start > time; };
  auto const before = std::find_if_not(of.known.rbegin(), of.known.rend(), is_later);
  return before != of.known.rend() ? *before : of.known.front();
}

/// Where the times of a node count from: the start of its own launch, or of a later whole whose
/// times it has. If an earlier launch tells when the node begins, that decides: a whole may begin
/// while the launch before it still runs.
std::uint64_t node_times::base_of(graph const& of, launch_by_nodes const& launch,
                                  node_work const& work) noexcept {
  auto const own = launch.work.front().start.value;
  auto const is_first = &work == &launch.work.front();
  auto const at = is_first ? end_of(work) - 1 : work.start.value;
  auto later = std::ranges::upper_bound(of.wholes, timestamp_ns{at}, {}, &graph_record::start);
  if (later == of.wholes.begin()) return own;
  auto whole = std::prev(later);
  auto const is_apart = whole->start.value > own && end_of(work) <= end_of(*whole);
  if (is_first) {
    // The only node of a graph may still run when the next launch begins.
    auto const ends_it = end_of(*whole) - end_of(work) <= end_of(work) - whole->start.value;
    return is_apart && (launch.work.size() > 1 || ends_it) ? whole->start.value : own;
  }
  auto const known = of.known.empty()
                         ? nullptr
                         : find_node(of.known.back(), work.node,
                                     static_cast<std::size_t>(&work - launch.work.data()));
  if (known == nullptr)
    return is_apart && base_of(of, launch, launch.work.front()) != own ? whole->start.value : own;
  auto const since = known->start.value - of.known.back().work.front().start.value;
  auto best = own;
  auto const try_base = [&](std::uint64_t base) {
    auto const off = [&](std::uint64_t from) {
      return std::abs(static_cast<double>(at) - static_cast<double>(from) -
                      static_cast<double>(since));
    };
    if (off(base) < off(best)) best = base;
  };
  for (int tried = 0; tried < 2 && whole->start.value > own; ++tried) {
    try_base(whole->start.value);
    if (whole == of.wholes.begin()) break;
    --whole;
  }
  return best;
}

/// Returns false if the launch has times of its own.
bool node_times::take_launch(graph& of, launch_by_nodes launch, receiver const& to) {
  auto& all = launch.work;
  std::ranges::sort(all, {}, &kernel_record::start);
  auto const own = all.front();
  auto counted = all;  // from the start of the first one on
  auto other = correlation_id{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const base = base_of(of, launch, all[i]);
    if (base == own.start.value) continue;
    auto const whole =
        std::ranges::lower_bound(of.wholes, timestamp_ns{base}, {}, &graph_record::start);
    other = whole->correlation;
    auto& work = counted[i];
    auto const begin = std::max(all[i].start.value, base), end = end_of(all[i]);
    work.start = {own.start.value + (begin - base)};
    work.duration = {static_cast<std::int64_t>(end - begin)};
    if (begin < end && end <= end_of(*whole)) continue;
    // Its start and its end are those of two launches.
    auto const* const known = of.known.empty() ? nullptr : find_node(of.known.back(), work.node, i);
    work.duration = known != nullptr ? known->duration : duration_ns{};
  }
  if (raw(other) == 0) {
    for (auto const& work : all) pass(launch, work, to);
    learn(of, std::move(launch));
    return false;
  }
  launch.work = std::move(counted);
  std::ranges::sort(launch.work, {}, &kernel_record::start);
  std::uint64_t end = 0;
  for (auto const& work : launch.work) end = std::max(end, end_of(work));
  learn(of, std::move(launch));
  compute(of.known.back(),
          {.start = own.start,
           .duration = {static_cast<std::int64_t>(end - own.start.value)},
           .launched = own.launched,
           .graph = own.graph,
           .device = own.device,
           .context = own.context,
           .stream = own.stream,
           .correlation = own.correlation,
           .thread = own.thread,
           .range = own.range,
           .stack = own.stack},
          other, to);
  return true;
}

std::uint64_t node_times::take_of(graph& of, timestamp_ns ended_before, receiver const& to) {
  std::uint64_t computed = 0;
  // Only the latest launch by nodes can get times of a whole.
  auto const latest = of.launches.empty() ? correlation_id{} : of.launches.back().correlation;
  auto const waits = [&](auto const& launch) {
    return launch.last_end > ended_before.value &&
           (!of.is_never_whole() || launch.correlation == latest);
  };
  auto const ready = std::stable_partition(of.launches.begin(), of.launches.end(), waits);
  std::vector<launch_by_nodes> launches(std::make_move_iterator(ready),
                                        std::make_move_iterator(of.launches.end()));
  of.launches.erase(ready, of.launches.end());
  std::ranges::sort(of.wholes, {}, &graph_record::start);
  for (auto& launch : launches)
    if (!launch.work.empty()) computed += take_launch(of, std::move(launch), to);
  // A launch that waits may have times of any whole after its start.
  auto wanted = ~std::uint64_t{0};
  for (auto const& launch : of.launches) wanted = std::min(wanted, launch.first_start);
  auto const is_kept = [&](graph_record const& whole) {
    return end_of(whole) > ended_before.value || whole.start.value >= wanted;
  };
  auto const first_kept = std::ranges::find_if(of.wholes, is_kept);
  for (auto whole = of.wholes.begin(); whole != first_kept; ++whole) {
    if (of.known.empty()) {
      to.unknown(*whole);
      continue;
    }
    auto const& known = known_at(of, whole->start);
    compute(known, *whole, known.correlation, to);
    ++computed;
  }
  of.wholes.erase(of.wholes.begin(), first_kept);
  if (of.has_wholes && of.known.size() > 1) of.known.erase(of.known.begin(), of.known.end() - 1);
  return computed;
}

std::uint64_t node_times::take(bounds const& until, receiver const& to) {
  auto const latest = std::max(until.ended_before, until.complete_before);
  if (first_end_ > latest.value) return 0;
  first_end_ = ~std::uint64_t{0};
  std::uint64_t computed = 0, last_use = 0;
  for (auto const& [_, of] : graphs_) last_use = std::max(last_use, of.last_use);
  for (auto one = graphs_.begin(); one != graphs_.end();) {
    auto& of = one->second;
    auto const may_end = of.first_end <= latest.value;
    auto const ended_before = may_end && of.is_complete() ? latest : until.ended_before;
    if (of.first_end <= ended_before.value) {
      computed += take_of(of, ended_before, to);
      of.first_end = ~std::uint64_t{0};
      for (auto const& launch : of.launches) of.first_end = std::min(of.first_end, launch.last_end);
      for (auto const& whole : of.wholes) of.first_end = std::min(of.first_end, end_of(whole));
    }
    first_end_ = std::min(first_end_, of.first_end);
    auto const is_forgotten =
        of.launches.empty() && of.wholes.empty() && last_use - of.last_use > forgotten_after_ns;
    one = is_forgotten ? graphs_.erase(one) : std::next(one);
  }
  return computed;
}

std::optional<timestamp_ns> node_times::oldest() const noexcept {
  std::optional<timestamp_ns> oldest;
  auto const see = [&](timestamp_ns start) { oldest = std::min(oldest.value_or(start), start); };
  for (auto const& [_, of] : graphs_) {
    for (auto const& whole : of.wholes) see(whole.start);
    for (auto const& launch : of.launches) see({launch.first_start});
  }
  return oldest;
}

}  // namespace gpuprof::guest
