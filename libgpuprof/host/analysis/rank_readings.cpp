// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/rank_readings.hpp"

#include <cmath>

namespace gpuprof::host {
namespace {

/// A share. Other work in the same geometry would mostly differ by more.
constexpr double as_long_on_ranks = 0.05;

bool take_as_long(identified_kernel const& one, identified_kernel const& other) {
  return one.mean_ns && other.mean_ns && *other.mean_ns > 0 &&
         std::abs(*one.mean_ns / *other.mean_ns - 1) <= as_long_on_ranks;
}

/// Removes launches without recorded arguments if the same kernel was also launched with known
/// ones, because they may be any of these.
void erase_unsure(identified_kernels& kernels) {
  std::map<kernel_identity, unsigned> variants;
  auto const without_arguments = [](kernel_identity identity) {
    identity.arguments = arguments_not_looked_at;
    return identity;
  };
  for (auto const& [identity, kernel] : kernels) ++variants[without_arguments(identity)];
  std::erase_if(kernels, [&](auto const& one) {
    return one.first.arguments == arguments_not_looked_at && variants.at(one.first) > 1;
  });
}

}  // namespace

identified_kernels identify(workload_times const& times, std::span<kernel_shape const> shapes,
                            std::function<std::string(name_id)> const& text_of,
                            std::function<std::string(device_id)> const& chip_of) {
  std::map<shape_id, kernel_shape const*> by_id;
  for (auto const& shape : shapes) by_id[shape.id] = &shape;
  identified_kernels found;
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    auto const& id = times.id(i);
    auto const at = by_id.find(id.shape);
    if (raw(id.graph) != 0 || at == by_id.end() ||
        at->second->arguments == arguments_of_many_values)
      continue;
    auto const& shape = *at->second;
    // If several GPUs have the same chip, the first one is used.
    found.try_emplace({text_of(shape.name), chip_of(id.device), shape.grid, shape.block,
                       shape.cluster, shape.dynamic_shared_bytes, shape.arguments},
                      identified_kernel{id, times.undisturbed_mean(i)});
  }
  erase_unsure(found);
  return found;
}

std::size_t adopt_readings(launch_metrics& mine, identified_kernels const& here,
                           launch_metrics const& theirs, identified_kernels const& there,
                           std::uint32_t rank) {
  std::size_t adopted = 0;
  for (auto const& [identity, kernel] : here) {
    auto const same = there.find(identity);
    if (same == there.end() || !take_as_long(kernel, same->second)) continue;
    adopted += mine.adopt(kernel.workload, theirs, same->second.workload, rank);
  }
  return adopted;
}

}  // namespace gpuprof::host
