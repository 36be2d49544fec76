// SPDX-License-Identifier: Apache-2.0
#include "metric_names.hpp"

#include "chip_at_hand.hpp"
#include "guest/metrics/planning/counter_library.hpp"
#include "guest/metrics/planning/host_profiler.hpp"
#include "guest/metrics/planning/metric_catalog.hpp"
#include "guest/metrics/planning/metric_sets.hpp"

#include <algorithm>

namespace gpuprof::host::command {

using namespace guest;

namespace {

bool has(metric_catalog const& catalog, std::string const& name) {
  auto const* const base = catalog.base_of(name);
  if (base == nullptr) return false;
  auto const& suffixes = catalog.suffixes(base->type);
  return std::find(suffixes.begin(), suffixes.end(), name.substr(base->name.size())) !=
         suffixes.end();
}

}  // namespace

std::string unknown_metric(std::vector<std::string> const& words) {
  std::vector<std::string> names;
  for (auto const& word : words)
    if (!metric_set_named(word)) names.push_back(word);
  if (names.empty()) return {};
  auto const chip = chip_at_hand();  // first: it forks, and CUPTI is not to be loaded before
  if (!chip) return {};
  auto const library = counter_library::open();
  if (!library) return {};
  auto const ranges = host_profiler::open(library->api(), counter_engine::ranges, *chip);
  if (!ranges) return {};
  auto const sampling = host_profiler::open(library->api(), counter_engine::sampling, *chip);
  auto const catalog = metric_catalog::read(*ranges, sampling ? &*sampling : nullptr);
  if (!catalog) return {};
  for (auto const& name : names) {
    if (has(*catalog, name)) continue;
    auto const why = catalog->explain(name);
    return "--metrics " + name + ": " + why.reason +
           (why.nearest.empty() ? "" : ", did you mean " + why.nearest + "?");
  }
  return {};
}

}  // namespace gpuprof::host::command
