// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/node_times.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace gpuprof::guest {
namespace {

// A launch with fewer kernels may have lost records. After so many the graph itself has become
// smaller: nodes of a graph can be disabled.
constexpr unsigned smaller_is_believed = 3;
// A graph with so many launches by nodes, and none as a whole, is launched by nodes for ever.
constexpr std::size_t most_without_whole = 8;

std::uint64_t end_of(auto const& work) noexcept {
  return work.start.value + static_cast<std::uint64_t>(work.duration.value);
}

std::uint64_t last_end(std::vector<kernel_record> const& kernels) noexcept {
  std::uint64_t end = 0;
  for (auto const& kernel : kernels) end = std::max(end, end_of(kernel));
  return end;
}

/// `place`: where it is likely to be.
kernel_record const* find_node(auto const& launch, graph_node_id node, std::size_t place) noexcept {
  if (place < launch.kernels.size() && launch.kernels[place].node == node)
    return &launch.kernels[place];
  auto const found = std::ranges::find(launch.kernels, node, &kernel_record::node);
  return found != launch.kernels.end() ? &*found : nullptr;
}

void belong_to(kernel_record& kernel, auto const& launch) noexcept {
  kernel.launched = launch.launched;
  kernel.correlation = launch.correlation;
  kernel.thread = launch.thread;
  kernel.range = launch.range;
  kernel.stack = launch.stack;
}

}  // namespace

bool node_times::keep(kernel_record const& kernel) {
  if (raw(kernel.graph) == 0 || raw(kernel.node) == 0) return false;
  auto& of = graphs_[kernel.graph];
  auto& launches = of.launches;
  auto const is_of_it = [&](auto const& launch) {
    return launch.kernels.front().correlation == kernel.correlation;
  };
  auto launch = std::find_if(launches.rbegin(), launches.rend(), is_of_it);
  if (launch != launches.rend()) {
    launch->kernels.push_back(kernel);
    return true;
  }
  if (!of.has_wholes && launches.size() + of.known.size() >= most_without_whole) return false;
  launches.emplace_back().kernels.push_back(kernel);
  return true;
}

void node_times::add(graph_record const& whole) {
  auto& of = graphs_[whole.graph];
  of.has_wholes = true;
  of.wholes.push_back(whole);
}

void node_times::learn(graph& of, launch_by_nodes const& launch) {
  if (!of.known.empty() && launch.kernels.size() < of.known.back().kernels.size() &&
      ++of.smaller < smaller_is_believed)
    return;
  of.smaller = 0;
  auto& known = of.known.emplace_back(launch);
  auto const first = known.kernels.front().start.value;
  for (auto const& kernel : known.kernels) {
    auto const begin = kernel.start.value - first, end = end_of(kernel) - first;
    if (known.busy.empty() || begin > known.busy.back().end)
      known.busy.push_back({begin, end});
    else
      known.busy.back().end = std::max(known.busy.back().end, end);
  }
  for (auto const& one : known.busy) known.busy_ns += one.end - one.begin;
}

/// A launch by nodes has longer pauses between its kernels. So the kernels keep their lengths, and
/// the pauses are made as short as the whole launch was. If that is too short even without pauses,
/// the kernels become shorter.
void node_times::make(launch_by_nodes const& known, graph_record const& whole,
                      correlation_id told_by, settled& into) {
  ++into.launches_made;
  auto const length = static_cast<double>(whole.duration.value);
  auto const busy = static_cast<double>(known.busy_ns);
  auto const pauses = static_cast<double>(known.busy.back().end) - busy;
  auto const of_busy = busy > length ? length / busy : 1.0;
  auto const of_pauses = pauses > 0 ? std::max(length - busy, 0.0) / pauses : 0.0;
  auto const first = known.kernels.front().start.value;
  auto stretch = known.busy.begin();
  double begin = 0;  // of this stretch, in the launch that is made
  for (auto kernel : known.kernels) {
    auto const since = kernel.start.value - first;
    for (; since > stretch->end && stretch + 1 != known.busy.end(); ++stretch)
      begin += of_busy * static_cast<double>(stretch->end - stretch->begin) +
               of_pauses * static_cast<double>((stretch + 1)->begin - stretch->end);
    auto const start = begin + of_busy * static_cast<double>(since - stretch->begin);
    kernel.start = {whole.start.value + static_cast<std::uint64_t>(std::llround(start))};
    kernel.duration = {std::llround(of_busy * static_cast<double>(kernel.duration.value))};
    belong_to(kernel, whole);
    kernel.time_of = told_by;
    into.kernels.push_back(kernel);
  }
}

/// The latest that ran before, else the first one.
node_times::launch_by_nodes const& node_times::known_at(graph const& of,
                                                        timestamp_ns time) noexcept {
  auto const is_later = [&](auto const& one) { return one.kernels.front().start > time; };
  auto const before = std::find_if_not(of.known.rbegin(), of.known.rend(), is_later);
  return before != of.known.rend() ? *before : of.known.front();
}

/// Where the times of a kernel count from: the start of its own launch, or of a later whole whose
/// times it has. If an earlier launch tells when the kernel begins, that decides: a whole may begin
/// while the launch before it still runs.
std::uint64_t node_times::base_of(graph const& of, launch_by_nodes const& launch,
                                  kernel_record const& kernel) noexcept {
  auto const own = launch.kernels.front().start.value;
  auto const is_first = &kernel == &launch.kernels.front();
  auto const at = is_first ? end_of(kernel) - 1 : kernel.start.value;
  auto later = std::ranges::upper_bound(of.wholes, timestamp_ns{at}, {}, &graph_record::start);
  if (later == of.wholes.begin()) return own;
  auto whole = std::prev(later);
  auto const is_apart = whole->start.value > own && end_of(kernel) <= end_of(*whole);
  if (is_first) {
    // The only kernel of a graph may still run when the next launch begins.
    auto const ends_it = end_of(*whole) - end_of(kernel) <= end_of(kernel) - whole->start.value;
    return is_apart && (launch.kernels.size() > 1 || ends_it) ? whole->start.value : own;
  }
  auto const known = of.known.empty()
                         ? nullptr
                         : find_node(of.known.back(), kernel.node,
                                     static_cast<std::size_t>(&kernel - launch.kernels.data()));
  if (known == nullptr)
    return is_apart && base_of(of, launch, launch.kernels.front()) != own ? whole->start.value
                                                                          : own;
  auto const since = known->start.value - of.known.back().kernels.front().start.value;
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

void node_times::take_launch(graph& of, launch_by_nodes launch, settled& into) {
  auto& kernels = launch.kernels;
  std::ranges::sort(kernels, {}, &kernel_record::start);
  auto const own = kernels.front();
  auto counted = launch;  // from the start of the first kernel on
  auto other = correlation_id{};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    auto const base = base_of(of, launch, kernels[i]);
    if (base == own.start.value) continue;
    auto const whole =
        std::ranges::lower_bound(of.wholes, timestamp_ns{base}, {}, &graph_record::start);
    other = whole->correlation;
    auto& kernel = counted.kernels[i];
    auto const begin = std::max(kernels[i].start.value, base), end = end_of(kernels[i]);
    kernel.start = {own.start.value + (begin - base)};
    kernel.duration = {static_cast<std::int64_t>(end - begin)};
    if (begin < end && end <= end_of(*whole)) continue;
    // Its start and its end are those of two launches.
    auto const* const known =
        of.known.empty() ? nullptr : find_node(of.known.back(), kernel.node, i);
    kernel.duration = known != nullptr ? known->duration : duration_ns{};
  }
  if (raw(other) == 0) {
    learn(of, launch);
    into.kernels.insert(into.kernels.end(), kernels.begin(), kernels.end());
    return;
  }
  std::ranges::sort(counted.kernels, {}, &kernel_record::start);
  learn(of, counted);
  graph_record itself{
      .start = own.start,
      .duration = {static_cast<std::int64_t>(last_end(counted.kernels) - own.start.value)},
      .launched = own.launched,
      .graph = own.graph,
      .device = own.device,
      .context = own.context,
      .stream = own.stream,
      .correlation = own.correlation,
      .thread = own.thread,
      .range = own.range,
      .stack = own.stack};
  make(of.known.back(), itself, other, into);
}

node_times::settled node_times::take(timestamp_ns ended_before) {
  settled made;
  for (auto& [_, of] : graphs_) {
    auto const waits = [&](launch_by_nodes const& launch) {
      return last_end(launch.kernels) > ended_before.value;
    };
    auto const ready = std::stable_partition(of.launches.begin(), of.launches.end(), waits);
    std::vector<launch_by_nodes> const launches(std::make_move_iterator(ready),
                                                std::make_move_iterator(of.launches.end()));
    of.launches.erase(ready, of.launches.end());
    std::ranges::sort(of.wholes, {}, &graph_record::start);
    for (auto const& launch : launches) take_launch(of, launch, made);
    std::erase_if(of.wholes, [&](graph_record const& whole) {
      if (end_of(whole) > ended_before.value) return false;
      if (of.known.empty())
        made.unknown.push_back(whole);
      else
        make(known_at(of, whole.start), whole,
             known_at(of, whole.start).kernels.front().correlation, made);
      return true;
    });
    if (of.has_wholes && of.known.size() > 1) of.known.erase(of.known.begin(), of.known.end() - 1);
  }
  return made;
}

std::optional<timestamp_ns> node_times::oldest() const noexcept {
  std::optional<timestamp_ns> oldest;
  auto const see = [&](timestamp_ns start) { oldest = std::min(oldest.value_or(start), start); };
  for (auto const& [_, of] : graphs_) {
    for (auto const& whole : of.wholes) see(whole.start);
    for (auto const& launch : of.launches)
      for (auto const& kernel : launch.kernels) see(kernel.start);
  }
  return oldest;
}

}  // namespace gpuprof::guest
