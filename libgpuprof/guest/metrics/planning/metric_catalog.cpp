// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/planning/metric_catalog.hpp"

#include "base/nearest_name.hpp"

#include <algorithm>

namespace gpuprof::guest {
namespace {

constexpr metric_type all_types[] = {metric_type::counter, metric_type::ratio,
                                     metric_type::throughput};

std::size_t index_of(metric_type type) noexcept {
  return static_cast<std::size_t>(type);
}

bool before(base_metric const& metric, std::string_view name) noexcept {
  return metric.name < name;
}

/// Returns where the suffix of an unknown metric begins. Names of base metrics may contain dots
/// ("TPC.TriageCompute.sm__cycles_active"), but only before the "__".
std::size_t suffix_at(std::string_view name) noexcept {
  auto const unit_end = name.find("__");
  return std::min(name.find('.', unit_end == std::string_view::npos ? 0 : unit_end), name.size());
}

}  // namespace

std::string_view usual_suffix(metric_type type) noexcept {
  switch (type) {
    case metric_type::ratio:
      return ".ratio";
    case metric_type::throughput:
      return ".avg.pct_of_peak_sustained_elapsed";
    case metric_type::counter:
      break;
  }
  return ".sum";
}

result<metric_catalog> metric_catalog::read(host_profiler const& ranges,
                                            host_profiler const* sampling) {
  metric_catalog catalog;
  catalog.chip_ = ranges.chip();
  std::vector<base_metric> all;
  for (auto const* const host : {&ranges, sampling}) {
    if (host == nullptr) continue;
    bool const by_ranges = host->engine() == counter_engine::ranges;
    for (auto const type : all_types) {
      auto names = host->base_metrics(type);
      if (!names) return error{names.message()};
      auto& suffixes = catalog.suffixes_[index_of(type)];
      if (suffixes.empty() && !names->empty()) {  // all metrics of a type have the same suffixes
        auto read = host->suffixes(names->front(), type);
        if (!read) return error{read.message()};
        suffixes = *std::move(read);
      }
      for (auto& name : *names) all.push_back({std::move(name), type, by_ranges, !by_ranges});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](base_metric const& a, base_metric const& b) { return a.name < b.name; });
  for (auto& metric : all) {
    auto& list = catalog.metrics_;
    if (!list.empty() && list.back().name == metric.name) {
      list.back().by_ranges |= metric.by_ranges;
      list.back().by_sampling |= metric.by_sampling;
    } else {
      list.push_back(std::move(metric));
    }
  }
  return catalog;
}

std::vector<std::string> const& metric_catalog::suffixes(metric_type type) const noexcept {
  return suffixes_[index_of(type)];
}

base_metric const* metric_catalog::find(std::string_view base) const noexcept {
  auto const at = std::lower_bound(metrics_.begin(), metrics_.end(), base, before);
  return at != metrics_.end() && at->name == base ? &*at : nullptr;
}

base_metric const* metric_catalog::base_of(std::string_view name) const noexcept {
  for (auto end = name.size();;) {
    if (auto const* const found = find(name.substr(0, end))) return found;
    end = end == 0 ? std::string_view::npos : name.rfind('.', end - 1);
    if (end == std::string_view::npos) return nullptr;
  }
}

std::string metric_catalog::nearest(std::string_view name) const {
  auto const at = suffix_at(name);
  std::vector<std::string> names;
  names.reserve(metrics_.size());
  for (auto const& metric : metrics_) names.push_back(metric.name);
  auto const base = nearest_name(name.substr(0, at), names);
  if (base.empty()) return {};
  auto const type = find(base)->type;
  auto const suffix = nearest_name(name.substr(at), suffixes(type));
  return base + (suffix.empty() ? std::string(usual_suffix(type)) : suffix);
}

unusable_metric metric_catalog::explain(std::string const& name) const {
  auto const* const base = base_of(name);
  if (base == nullptr) return {name, chip_ + " has no metric of this name", nearest(name)};
  auto const& known = suffixes(base->type);
  auto const suffix = name.substr(base->name.size());
  if (suffix.empty())
    return {name, "it needs a suffix", base->name + std::string(usual_suffix(base->type))};
  if (std::find(known.begin(), known.end(), suffix) == known.end()) {
    auto const near = nearest_name(suffix, known);
    return {name, base->name + " has no suffix " + suffix,
            base->name + (near.empty() ? std::string(usual_suffix(base->type)) : near)};
  }
  return {name, "CUPTI cannot count it on this " + chip_, {}};
}

}  // namespace gpuprof::guest
