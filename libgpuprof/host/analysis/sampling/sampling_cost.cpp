// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sampling_cost.hpp"

#include <algorithm>
#include <iterator>

namespace gpuprof::host {
namespace {

constexpr std::uint64_t enough_launches = 10;

}  // namespace

void sampling_cost::add(sampling_window_record const& window) {
  auto& end = windows_[window.device][window.start];
  end = std::max(end, window.end);
}

sampling_cost::side sampling_cost::side_of(device_id device, timestamp_ns start,
                                           timestamp_ns end) const {
  auto const of_device = windows_.find(device);
  if (of_device == windows_.end())
    return side::across;  // nothing to compare on a GPU that is never sampled
  auto const after = of_device->second.lower_bound(end);
  if (after == of_device->second.begin()) return side::outside;
  auto const& [opened, closed] = *std::prev(after);
  if (closed <= start) return side::outside;
  return opened <= start && end <= closed ? side::inside : side::across;
}

void sampling_cost::add(std::uint32_t workload, device_id device, timestamp_ns start,
                        timestamp_ns end) {
  auto const where = side_of(device, start, end);
  if (where == side::across) return;
  if (workloads_.size() <= workload) workloads_.resize(workload + 1);
  auto& of = workloads_[workload];
  auto& here = where == side::inside ? of.inside : of.outside;
  ++here.launches;
  here.ns += static_cast<double>((end - start).value);
}

std::optional<sampling_price> sampling_cost::price() const {
  struct weighted {
    double ratio = 0, ns = 0;
  };
  std::vector<weighted> ratios;
  double all = 0;
  for (auto const& [inside, outside] : workloads_) {
    if (inside.launches < enough_launches || outside.launches < enough_launches) continue;
    if (!(inside.ns > 0) || !(outside.ns > 0)) continue;
    auto const mean_inside = inside.ns / static_cast<double>(inside.launches);
    auto const mean_outside = outside.ns / static_cast<double>(outside.launches);
    ratios.push_back({mean_inside / mean_outside, inside.ns + outside.ns});
    all += ratios.back().ns;
  }
  if (ratios.empty()) return std::nullopt;
  std::sort(ratios.begin(), ratios.end(),
            [](weighted const& a, weighted const& b) { return a.ratio < b.ratio; });
  double below = 0;
  auto const middle = std::find_if(ratios.begin(), ratios.end(), [&](weighted const& w) {
    below += w.ns;
    return below >= all / 2;
  });
  return sampling_price{middle->ratio, ratios.size()};
}

}  // namespace gpuprof::host
