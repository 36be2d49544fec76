// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/slowed_launches.hpp"

#include "host/analysis/samples.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace gpuprof::host {

void slowed_launches::define(kernel_shape const& shape) {
  auto& all = variants_[without_arguments(shape)];
  if (shape.arguments == arguments_not_looked_at) {
    without_arguments_[raw(shape.id)] = &all;
    return;
  }
  all.several |= all.arguments_known != shape_id{} || shape.arguments == arguments_of_many_values;
  all.arguments_known = shape.id;
}

shape_id slowed_launches::work_of(shape_id shape) const {
  auto const found = without_arguments_.find(raw(shape));
  if (found == without_arguments_.end()) return shape;
  auto const& all = *found->second;
  return all.several || all.arguments_known == shape_id{} ? shape : all.arguments_known;
}

void slowed_launches::see(kernel_record const& kernel) {
  auto& sum = by_work_[raw(work_of(kernel.shape))];
  if (readings_.sampling_of(kernel.correlation) != sampling::none) {
    ++sum.read;
    return;
  }
  if (ran_in_pause(kernel)) {
    ++sum.in_pause;
    return;
  }
  auto const ns = nanoseconds(kernel.duration);
  sum.ns += ns;
  sum.longest_ns = std::max(sum.longest_ns, ns);
  ++sum.launches;
}

bool slowed_launches::ran_in_pause(kernel_record const& kernel) const noexcept {
  return std::any_of(pauses_.begin(), pauses_.end(), [&](pause_record const& pause) {
    return pause.device == kernel.device && kernel.start < pause.start + pause.duration &&
           pause.start < kernel.start + kernel.duration;
  });
}

std::optional<duration_ns> slowed_launches::undisturbed(kernel_record const& kernel) const {
  if (!may_be_slowed(kernel)) return std::nullopt;
  auto const how = readings_.sampling_of(kernel.correlation);
  auto const found = by_work_.find(raw(work_of(kernel.shape)));
  if (found == by_work_.end() || found->second.launches == 0) return std::nullopt;
  auto const& others = found->second;
  auto const is_slowed =
      how == sampling::slowed ||
      (tells_longest(others, how) && nanoseconds(kernel.duration) > others.longest_ns);
  if (!is_slowed) return std::nullopt;
  return duration_ns{
      static_cast<std::int64_t>((others.ns + others.launches / 2) / others.launches)};
}

namespace {

constexpr double as_long = 0.2;  // relative difference of mean times

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
