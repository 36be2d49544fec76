// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sampled_figures.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host {
namespace {

double chance_of(sampled_figure const& figure) {
  return std::sqrt(std::max(0.0, figure.error * figure.error - figure.doubt * figure.doubt));
}

/// Combines two figures: chance errors are independent, doubts are not.
sampled_figure both(sampled_figure const& one, sampled_figure const& other) {
  auto const n = static_cast<double>(one.launches), m = static_cast<double>(other.launches);
  auto const all = n + m;
  if (!(all > 0)) return one;
  sampled_figure made;
  made.mean = (n * one.mean + m * other.mean) / all;
  made.doubt = (n * one.doubt + m * other.doubt) / all;
  auto const chance = std::hypot(n * chance_of(one), m * chance_of(other)) / all;
  made.error = std::hypot(chance, made.doubt);
  made.launches = one.launches + other.launches;
  made.is_fitted = one.is_fitted || other.is_fitted;
  return made;
}

}  // namespace

std::uint32_t sampled_figures::define(std::string_view metric) {
  if (auto const known = name_index_.find(metric); known != name_index_.end()) return known->second;
  names_.emplace_back(metric);
  return name_index_[names_.back()] = static_cast<std::uint32_t>(names_.size() - 1);
}

sampled_figures::of_workload& sampled_figures::make(workload_id const& workload) {
  auto& made = by_workload_[workload];
  made.by_name.resize(names_.size());
  return made;
}

void sampled_figures::take(sampled_figures const& other, std::size_t max_workloads) {
  std::vector<std::uint32_t> place;
  for (auto const& name : other.names_) place.push_back(define(name));
  for (auto const& [workload, found] : other.by_workload_) {
    if (by_workload_.size() >= max_workloads && !by_workload_.contains(workload)) continue;
    auto& known = make(workload);
    known.ns += found.ns;
    known.shared_ns += found.shared_ns;
    for (std::size_t i = 0; i < found.by_name.size(); ++i) {
      auto const& more = found.by_name[i];
      auto& figure = known.by_name[place[i]];
      if (more) figure = figure ? both(*figure, *more) : *more;
    }
  }
}

sampled_figure const* sampled_figures::find(workload_id const& workload,
                                            std::string_view metric) const {
  auto const name = name_index_.find(metric);
  auto const known = by_workload_.find(workload);
  if (name == name_index_.end() || known == by_workload_.end()) return nullptr;
  auto const& figures = known->second.by_name;
  if (name->second >= figures.size() || !figures[name->second]) return nullptr;
  return &*figures[name->second];
}

bool sampled_figures::is_shared(workload_id const& workload) const {
  auto const known = by_workload_.find(workload);
  return known != by_workload_.end() && known->second.shared_ns > known->second.ns / 2;
}

}  // namespace gpuprof::host
