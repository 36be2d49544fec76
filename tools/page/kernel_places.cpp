// SPDX-License-Identifier: Apache-2.0
#include "page/kernel_places.hpp"

#include <algorithm>
#include <map>

namespace gpuprof::page {
namespace {

constexpr std::uint32_t outside = 0, one_of_too_many = 1;

constexpr std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::uint64_t>(a) << 32 | b;
}

/// By kernel, for one place.
using placed_kernels = std::map<std::uint32_t, placed_kernel>;

kernel_place place_of(std::string name, placed_kernels const& of) {
  kernel_place place{std::move(name), {}, 0};
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

void sort(std::vector<kernel_place>& places) {
  std::stable_sort(places.begin(), places.end(),
                   [](auto const& a, auto const& b) { return a.total_ns > b.total_ns; });
}

}  // namespace

kernel_places::kernel_places(std::size_t max_pairs) : limit_(max_pairs), nestings_(2) {}

std::uint32_t kernel_places::name_of(std::string_view name) {
  auto const [known, is_new] =
      by_name_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return known->second;
}

void kernel_places::open(std::uint64_t range, std::uint64_t parent, std::string_view name) {
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

void kernel_places::add(std::uint32_t kernel, std::uint64_t duration_ns, std::uint64_t range,
                        std::uint32_t graph) {
  auto placed = graph == 0 || count(by_graph_, graph, kernel, duration_ns);
  if (range != 0) {
    auto const known = by_range_.find(range);
    auto const in = known == by_range_.end() ? one_of_too_many : known->second;
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
  sort(places);
  return places;
}

std::vector<kernel_place> kernel_places::graphs() const {
  std::map<std::uint32_t, placed_kernels> by_graph;
  for (auto const& [pair, of] : by_graph_)
    add_to(by_graph[static_cast<std::uint32_t>(pair >> 32)], static_cast<std::uint32_t>(pair),
           of.launches, of.total_ns);
  std::vector<kernel_place> places;
  for (auto const& [graph, kernels] : by_graph)
    places.push_back(place_of("[CUDA graph " + std::to_string(graph) + "]", kernels));
  sort(places);
  return places;
}

}  // namespace gpuprof::page
