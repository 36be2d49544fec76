// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/shape_pools.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace gpuprof::host {

std::vector<std::uint32_t> pools_of(std::span<kernel_shape const> shapes) {
  std::map<name_id, std::map<extent3, std::vector<shape_id>>> functions;
  std::size_t size = 0;
  for (auto const& shape : shapes) {
    size = std::max(size, std::size_t{raw(shape.id)} + 1);
    if (shape.has_geometry()) functions[shape.name][shape.grid].push_back(shape.id);
  }
  std::vector<std::uint32_t> pools(size, no_pool);
  std::uint32_t last = no_pool;
  auto const make = [&](std::vector<shape_id> const& members) {
    if (members.size() < least_shapes_of_pool) return false;
    ++last;
    for (auto const member : members) pools[raw(member)] = last;
    return true;
  };
  for (auto const& [_, grids] : functions) {
    std::vector<shape_id> others;
    for (auto const& [grid, members] : grids)
      if (!make(members)) others.insert(others.end(), members.begin(), members.end());
    make(others);
  }
  return pools;
}

pooled_work::pooled_work(device_work const& work, std::span<std::uint32_t const> pools,
                         launches_by_shape const& launches)
    : work_(work), first_pooled_(work.kinds().size()) {
  auto const kinds = work.kinds();
  std::vector<std::uint32_t> pool_of_kind(kinds.size(), no_pool);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    if (auto const shape = raw(kinds[kind].workload.shape);
        kinds[kind].is == work_kind::what::launch && raw(kinds[kind].workload.graph) == 0 &&
        shape < pools.size())
      pool_of_kind[kind] = pools[shape];
  work_.join(pool_of_kind);
  auto const before = work.items(), after = work_.items();
  for (std::size_t i = 0; i < after.size(); ++i) {
    auto const pool = pool_of_kind[before[i].kind];
    if (pool == no_pool) continue;
    auto& here = members_[kinds[before[i].kind].workload.shape].parts[after[i].kind];
    ++here.times;
    here.begun += work.begins_in_sample(after[i]);
    here.ns += static_cast<double>(after[i].length());
    pools_[pool].kinds.insert(after[i].kind);
  }
  for (auto const& [shape, all] : launches) {
    auto& of = members_[shape];
    of.all = all;
    of.pool = pools[raw(shape)];
    auto const times = static_cast<double>(all.times);
    pools_[of.pool].launches += times;
    pools_[of.pool].squares += times * times;
  }
}

std::optional<std::uint32_t> pooled_work::kind_like(member const& of) const {
  constexpr double max_apart = 1.6;  // as long as a class of lengths is wide
  std::optional<std::uint32_t> nearest;
  auto least = std::log(max_apart);
  for (auto const kind : pools_.at(of.pool).kinds) {
    auto const apart = std::abs(std::log(of.all.mean_ns() / work_.kinds()[kind].mean_ns()));
    if (apart > least) continue;
    least = apart;
    nearest = kind;
  }
  return nearest;
}

std::optional<sampled_figure> pooled_work::figure(shape_id shape, figure_grid const& figures,
                                                  std::uint32_t column, summing how) const {
  auto const found = members_.find(shape);
  if (found == members_.end() || found->second.all.times == 0) return std::nullopt;
  auto const& of = found->second;
  auto parts = of.parts;
  if (parts.empty())
    if (auto const kind = kind_like(of)) parts[*kind] = {of.all.times, of.all.times, of.all.ns};
  std::vector<class_figure> classes;
  for (auto const& [kind, here] : parts) {
    auto figure = figures[kind][column];
    if (figure && how == summing::amount) {
      auto const longer = here.ns / static_cast<double>(here.times) / work_.kinds()[kind].mean_ns();
      figure->mean *= longer;
      figure->error *= longer;
      figure->doubt *= longer;
    }
    if (figure) figure->launches = here.times;
    classes.push_back({here.begun, here.ns, figure});
  }
  if (classes.empty()) return std::nullopt;
  auto made = put_together(classes, how);
  if (!made) return made;
  auto const& pool = pools_.at(of.pool);
  made->error *= pool.launches / std::sqrt(pool.squares);
  made->is_fitted = true;
  return made;
}

}  // namespace gpuprof::host
