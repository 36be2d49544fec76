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
// A program may make graphs for ever. One that was not launched for so long is forgotten.
constexpr std::uint64_t forgotten_after_ns = 60'000'000'000;

std::uint64_t end_of(auto const& work) noexcept {
  return work.start.value + static_cast<std::uint64_t>(work.duration.value);
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
  // CUPTI 13.0.1 does not say to which launch kernels inside of conditional nodes belong.
  if (raw(kernel.graph) == 0 || raw(kernel.node) == 0 || raw(kernel.correlation) == 0) return false;
  auto& of = graphs_[kernel.graph];
  auto& launches = of.launches;
  auto const end = end_of(kernel);
  auto const is_of_it = [&](auto const& launch) {
    return launch.kernels.front().correlation == kernel.correlation;
  };
  auto launch = std::find_if(launches.rbegin(), launches.rend(), is_of_it);
  if (launch == launches.rend()) {
    if (!of.has_wholes && launches.size() + of.known.size() >= most_without_whole) return false;
    launches.emplace_back().first_start = kernel.start.value;
    launch = launches.rbegin();
  }
  launch->kernels.push_back(kernel);
  launch->first_start = std::min(launch->first_start, kernel.start.value);
  launch->last_end = std::max(launch->last_end, end);
  of.last_use = std::max(of.last_use, end);
  first_end_ = std::min(first_end_, end);
  return true;
}

void node_times::add(graph_record const& whole) {
  auto& of = graphs_[whole.graph];
  of.has_wholes = true;
  of.wholes.push_back(whole);
  of.last_use = std::max(of.last_use, end_of(whole));
  first_end_ = std::min(first_end_, end_of(whole));
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
void node_times::compute(launch_by_nodes const& known, graph_record const& whole,
                         correlation_id times_from, receiver const& to) {
  auto const length = static_cast<double>(whole.duration.value);
  auto const busy = static_cast<double>(known.busy_ns);
  auto const pauses = static_cast<double>(known.busy.back().end) - busy;
  auto const of_busy = busy > length ? length / busy : 1.0;
  auto const of_pauses = pauses > 0 ? std::max(length - busy, 0.0) / pauses : 0.0;
  auto const& first = known.kernels.front();
  auto stretch = known.busy.begin();
  double begin = 0;  // of this stretch, in the launch that is computed
  for (auto kernel : known.kernels) {
    auto const since = kernel.start.value - first.start.value;
    for (; since > stretch->end && stretch + 1 != known.busy.end(); ++stretch)
      begin += of_busy * static_cast<double>(stretch->end - stretch->begin) +
               of_pauses * static_cast<double>((stretch + 1)->begin - stretch->end);
    auto const start = begin + of_busy * static_cast<double>(since - stretch->begin);
    kernel.start = {whole.start.value + static_cast<std::uint64_t>(std::llround(start))};
    kernel.duration = {std::llround(of_busy * static_cast<double>(kernel.duration.value))};
    // Branches of a graph run on streams of their own.
    if (kernel.stream == first.stream) kernel.stream = whole.stream;
    if (kernel.context == first.context) kernel.context = whole.context;
    if (kernel.device == first.device) kernel.device = whole.device;
    belong_to(kernel, whole);
    kernel.time_of = times_from;
    to.kernel(kernel);
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

/// Returns false if the launch has times of its own.
bool node_times::take_launch(graph& of, launch_by_nodes launch, receiver const& to) {
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
    for (auto const& kernel : kernels) to.kernel(kernel);
    return false;
  }
  std::ranges::sort(counted.kernels, {}, &kernel_record::start);
  std::uint64_t end = 0;
  for (auto const& kernel : counted.kernels) end = std::max(end, end_of(kernel));
  learn(of, counted);
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
  auto const waits = [&](auto const& launch) { return launch.last_end > ended_before.value; };
  auto const ready = std::stable_partition(of.launches.begin(), of.launches.end(), waits);
  std::vector<launch_by_nodes> launches(std::make_move_iterator(ready),
                                        std::make_move_iterator(of.launches.end()));
  of.launches.erase(ready, of.launches.end());
  std::ranges::sort(of.wholes, {}, &graph_record::start);
  for (auto& launch : launches) computed += take_launch(of, std::move(launch), to);
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
    compute(known, *whole, known.kernels.front().correlation, to);
    ++computed;
  }
  of.wholes.erase(of.wholes.begin(), first_kept);
  if (of.has_wholes && of.known.size() > 1) of.known.erase(of.known.begin(), of.known.end() - 1);
  return computed;
}

std::uint64_t node_times::take(timestamp_ns ended_before, receiver const& to) {
  if (first_end_ > ended_before.value) return 0;
  first_end_ = ~std::uint64_t{0};
  std::uint64_t computed = 0, last_use = 0;
  for (auto const& [_, of] : graphs_) last_use = std::max(last_use, of.last_use);
  for (auto one = graphs_.begin(); one != graphs_.end();) {
    auto& of = one->second;
    computed += take_of(of, ended_before, to);
    for (auto const& launch : of.launches) first_end_ = std::min(first_end_, launch.last_end);
    for (auto const& whole : of.wholes) first_end_ = std::min(first_end_, end_of(whole));
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
