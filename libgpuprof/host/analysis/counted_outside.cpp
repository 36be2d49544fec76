// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/counted_outside.hpp"

#include <cmath>
#include <set>
#include <utility>

namespace gpuprof::host {
namespace {

constexpr double as_long = 0.2;  // a share

bool take_as_long(workload_times const& times, std::uint32_t one, std::uint32_t other) {
  auto const ns = times.undisturbed_mean(one), other_ns = times.undisturbed_mean(other);
  return ns && other_ns && *other_ns > 0 && std::abs(*ns / *other_ns - 1) <= as_long;
}

}  // namespace

kernel_shape without_arguments(kernel_shape shape) {
  shape.id = {};
  shape.arguments = arguments_not_looked_at;
  return shape;
}

std::map<workload_id, workload_id> counted_outside(workload_times const& times,
                                                   std::span<kernel_shape const> shapes) {
  std::set<std::uint32_t> inside;
  for (std::uint32_t i = 0; i < times.size(); ++i)
    for (auto const& [node, tally] : times.nodes(i)) inside.insert(node);
  if (inside.empty()) return {};

  std::map<shape_id, kernel_shape const*> by_id;
  for (auto const& shape : shapes) by_id[shape.id] = &shape;
  auto const shape_of = [&](std::uint32_t workload) -> kernel_shape const* {
    auto const found = by_id.find(times.id(workload).shape);
    return found == by_id.end() ? nullptr : found->second;
  };
  std::map<std::pair<device_id, kernel_shape>, std::vector<std::uint32_t>> outside;
  for (std::uint32_t i = 0; i < times.size(); ++i)
    if (auto const* const shape = shape_of(i);
        shape != nullptr && shape->arguments != arguments_not_looked_at)
      outside[{times.id(i).device, without_arguments(*shape)}].push_back(i);

  std::map<workload_id, workload_id> found;
  for (auto const node : inside) {
    auto const* const shape = shape_of(node);
    if (shape == nullptr || shape->arguments != arguments_not_looked_at) continue;
    auto const same = outside.find({times.id(node).device, without_arguments(*shape)});
    if (same == outside.end() || same->second.size() != 1) continue;
    auto const other = same->second.front();
    if (shape_of(other)->arguments == arguments_of_many_values || !take_as_long(times, node, other))
      continue;
    found[times.id(node)] = times.id(other);
  }
  return found;
}

}  // namespace gpuprof::host
