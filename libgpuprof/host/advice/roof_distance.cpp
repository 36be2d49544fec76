// SPDX-License-Identifier: Apache-2.0
#include "host/advice/roof_distance.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gpuprof::host::advice {
namespace {

using bound_times = std::vector<std::pair<bound_by, double>>;

void add(bound_times& times, bound_by const& bound, double ns) {
  auto known = std::find_if(times.begin(), times.end(),
                            [&](auto const& time) { return time.first == bound; });
  if (known == times.end()) known = times.insert(times.end(), {bound, 0});
  known->second += ns;
}

}  // namespace

std::optional<roof_distance> roof_distance_of(run_facts const& facts) {
  double all_ns = 0, known_ns = 0, reached_ns = 0;
  bound_times by_bound;
  for (auto const& kernel : facts.kernels) {
    if (kernel.is_communication) continue;
    all_ns += kernel.total_ns;
    if (!kernel.figures.of_roof) continue;
    known_ns += kernel.total_ns;
    reached_ns += kernel.total_ns * *kernel.figures.of_roof;
    add(by_bound, kernel.figures.bound, kernel.total_ns);
  }
  if (known_ns <= 0) return std::nullopt;
  auto const longest =
      std::max_element(by_bound.begin(), by_bound.end(),
                       [](auto const& a, auto const& b) { return a.second < b.second; });
  return roof_distance{reached_ns / known_ns, known_ns / all_ns, longest->first};
}

}  // namespace gpuprof::host::advice
