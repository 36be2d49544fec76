// SPDX-License-Identifier: Apache-2.0
#include "host/page/kernel_places.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace gpuprof::host::page {

void kernel_neighbors::add(std::uint32_t device, std::uint32_t context, std::uint32_t stream,
                           std::uint32_t kernel) {
  auto const [last, is_first] = last_.try_emplace({device, context, stream}, kernel);
  if (is_first) return;
  auto const pair = static_cast<std::uint64_t>(last->second) << 32 | kernel;
  last->second = kernel;
  if (auto const known = pairs_.find(pair); known != pairs_.end())
    ++known->second;
  else if (pairs_.size() < limit_)
    pairs_.emplace(pair, 1);
  else
    ++not_counted_;
}

std::vector<kernel_surroundings> kernel_neighbors::of_each(std::size_t kernels,
                                                           std::size_t most) const {
  std::vector<kernel_surroundings> all(kernels);
  for (auto const& [pair, times] : pairs_) {
    auto const before = static_cast<std::uint32_t>(pair >> 32);
    auto const after = static_cast<std::uint32_t>(pair);
    if (after < kernels) all[after].before.push_back({before, times});
    if (before < kernels) all[before].after.push_back({after, times});
  }
  auto const sort = [most](std::vector<neighbor>& list) {
    std::sort(list.begin(), list.end(), [](neighbor const& a, neighbor const& b) {
      return a.times != b.times ? a.times > b.times : a.kernel < b.kernel;
    });
    if (list.size() > most) list.resize(most);
  };
  for (auto& [before, after] : all) {
    sort(before);
    sort(after);
  }
  return all;
}

namespace {

constexpr std::uint32_t outside = 0, one_of_too_many = 1;

constexpr std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::uint64_t>(a) << 32 | b;
}

/// The kernels of one place, by number.
using placed_kernels = std::map<std::uint32_t, placed_kernel>;

kernel_place place_of(std::string name, placed_kernels const& of) {
  kernel_place place{std::move(name), {}, 0, false};
  for (auto const& [number, kernel] : of) {
    place.kernels.push_back(kernel);
    place.total_ns += kernel.total_ns;
  }
  std::stable_sort(place.kernels.begin(), place.kernels.end(),
                   [](auto const& a, auto const& b) { return a.total_ns > b.total_ns; });
  return place;
}

void add_to(placed_kernels& of, std::uint32_t kernel, std::uint64_t launches, std::uint64_t ns) {
  auto& one = of[kernel];
  one.kernel = kernel;
  one.launches += launches;
  one.total_ns += ns;
}

/// Groups sums of (place, kernel) pairs by place.
template <class Sums>
std::map<std::uint32_t, placed_kernels> kernels_by_place(Sums const& sums) {
  std::map<std::uint32_t, placed_kernels> by_place;
  for (auto const& [pair, of] : sums)
    add_to(by_place[static_cast<std::uint32_t>(pair >> 32)], static_cast<std::uint32_t>(pair),
           of.launches, of.total_ns);
  return by_place;
}

void sort(std::vector<kernel_place>& places) {
  std::stable_sort(places.begin(), places.end(),
                   [](auto const& a, auto const& b) { return a.total_ns > b.total_ns; });
}

}  // namespace

kernel_places::kernel_places(std::size_t max_pairs, std::size_t max_start_end)
    : limit_(max_pairs), max_start_end_(max_start_end), nestings_(2) {}

std::uint32_t kernel_places::name_of(std::string_view name) {
  auto const [known, is_new] =
      by_name_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return known->second;
}

void kernel_places::open(std::uint64_t range, std::uint64_t parent, std::string_view name) {
  last_range_ = 0;
  auto const around = by_range_.find(parent);
  auto const outer = around == by_range_.end() ? outside : around->second;
  if (nestings_.size() >= limit_) {
    by_range_[range] = one_of_too_many;
    return;
  }
  auto const of_name = name_of(name);
  auto const [known, is_new] = by_nesting_.try_emplace(
      pair_of(outer, of_name), static_cast<std::uint32_t>(nestings_.size()));
  if (is_new) nestings_.push_back({of_name, outer});
  by_range_[range] = known->second;
}

bool kernel_places::count(sums& of, std::uint32_t place, std::uint32_t kernel,
                          std::uint64_t duration_ns) {
  auto known = of.find(pair_of(place, kernel));
  if (known == of.end()) {
    if (of.size() >= limit_) return false;
    known = of.emplace(pair_of(place, kernel), sum{}).first;
  }
  ++known->second.launches;
  known->second.total_ns += duration_ns;
  return true;
}

void kernel_places::add_start_end(std::uint64_t begin_ns, std::uint64_t end_ns,
                                  std::string_view name) {
  auto const ends_later = [](auto const& a, auto const& b) { return a.end_ns > b.end_ns; };
  open_until_ns_ = 0;
  if (names_.size() >= limit_ && by_name_.find(std::string(name)) == by_name_.end()) {
    forgotten_until_ns_ = std::max(forgotten_until_ns_, end_ns);
    return;
  }
  start_end_.push_back({begin_ns, end_ns, name_of(name)});
  std::push_heap(start_end_.begin(), start_end_.end(), ends_later);
  if (start_end_.size() <= max_start_end_) return;
  std::pop_heap(start_end_.begin(), start_end_.end(), ends_later);
  forgotten_until_ns_ = std::max(forgotten_until_ns_, start_end_.back().end_ns);
  start_end_.pop_back();
}

void kernel_places::find_open_at(std::uint64_t moment_ns) {
  if (moment_ns >= open_from_ns_ && moment_ns < open_until_ns_) return;
  open_names_.clear();
  open_from_ns_ = 0;
  open_until_ns_ = std::numeric_limits<std::uint64_t>::max();
  for (auto const& one : start_end_) {
    if (one.begin_ns <= moment_ns && moment_ns < one.end_ns) open_names_.push_back(one.name);
    for (auto const change : {one.begin_ns, one.end_ns})
      if (change <= moment_ns)
        open_from_ns_ = std::max(open_from_ns_, change);
      else
        open_until_ns_ = std::min(open_until_ns_, change);
  }
  std::sort(open_names_.begin(), open_names_.end());
  open_names_.erase(std::unique(open_names_.begin(), open_names_.end()), open_names_.end());
}

bool kernel_places::count_open(std::uint32_t kernel, std::uint64_t duration_ns,
                               std::uint64_t launched_ns) {
  if (launched_ns == 0) return true;
  auto placed = launched_ns >= forgotten_until_ns_;
  find_open_at(launched_ns);
  for (auto const name : open_names_)
    placed = count(by_start_end_, name, kernel, duration_ns) && placed;
  return placed;
}

std::uint32_t kernel_places::nesting_of(std::uint64_t range) {
  if (range == last_range_) return nesting_of_last_;
  auto const known = by_range_.find(range);
  if (known == by_range_.end()) return one_of_too_many;  // its range may come later
  last_range_ = range;
  return nesting_of_last_ = known->second;
}

void kernel_places::add(std::uint32_t kernel, std::uint64_t duration_ns, launch_place const& from) {
  auto placed = from.graph == 0 || count(by_graph_, from.graph, kernel, duration_ns);
  placed = count_open(kernel, duration_ns, from.launched_ns) && placed;
  if (from.range != 0) {
    auto const in = nesting_of(from.range);
    placed = in != one_of_too_many && count(by_nesting_sums_, in, kernel, duration_ns) && placed;
  }
  not_placed_ += !placed;
}

std::vector<kernel_place> kernel_places::ranges() const {
  std::map<std::uint32_t, placed_kernels> by_name;
  std::vector<std::uint32_t> around;
  for (auto const& [pair, of] : by_nesting_sums_) {
    around.clear();
    for (auto at = static_cast<std::uint32_t>(pair >> 32); at > one_of_too_many;
         at = nestings_[at].parent) {
      auto const name = nestings_[at].name;
      if (std::find(around.begin(), around.end(), name) == around.end()) around.push_back(name);
    }
    for (auto const name : around)
      add_to(by_name[name], static_cast<std::uint32_t>(pair), of.launches, of.total_ns);
  }
  std::vector<kernel_place> places;
  for (auto const& [name, kernels] : by_name) places.push_back(place_of(names_[name], kernels));
  for (auto const& [name, kernels] : kernels_by_place(by_start_end_)) {
    places.push_back(place_of(names_[name], kernels));
    places.back().is_start_end = true;
  }
  sort(places);
  return places;
}

std::vector<kernel_place> kernel_places::graphs() const {
  std::vector<kernel_place> places;
  for (auto const& [graph, kernels] : kernels_by_place(by_graph_))
    places.push_back(place_of("[CUDA graph " + std::to_string(graph) + "]", kernels));
  sort(places);
  return places;
}

}  // namespace gpuprof::host::page
