// SPDX-License-Identifier: Apache-2.0
#include "host/replay/launch_queue.hpp"

#include <algorithm>
#include <map>

namespace gpuprof::host::replay {
namespace {

constexpr std::uint32_t least_length = 900;  // no GPU was seen with a shorter queue
constexpr std::uint32_t nearly_full = 3;     // launches below the length

std::int64_t end_of(recorded_steps const& steps, cpu_point const& launch) {
  std::int64_t end_ns = 0;
  for (auto const item : launch.items) end_ns = std::max(end_ns, steps.items[item].end_ns);
  return end_ns;
}

}  // namespace

full_queue full_queue_of(recorded_steps const& steps, cpu_lanes const& lanes) {
  auto const& points = lanes.points;
  struct of_device {
    std::vector<std::int64_t> ends;
    std::uint32_t launched = 0, depth = 0, rank = 0;
    std::size_t ended = 0;
  };
  std::map<std::uint32_t, of_device> devices;
  for (auto const& item : steps.items) {
    devices[item.device].rank = steps.rank_of(item);
    if (item.is_from_before) {
      devices[item.device].ends.push_back(item.end_ns);
      ++devices[item.device].launched;
    }
  }
  for (auto const& point : points)
    if (!point.items.empty())
      devices[steps.items[point.items.front()].device].ends.push_back(end_of(steps, point));
  for (auto& [_, device] : devices) std::sort(device.ends.begin(), device.ends.end());
  full_queue found;
  std::vector<std::uint32_t> depths, before;
  for (auto const& point : points) {
    std::uint32_t depth = 0, last = 0;
    for (auto& [_, device] : devices) {
      if (device.rank != lanes.rank_of_lane[point.lane]) continue;
      while (device.ended < device.ends.size() && device.ends[device.ended] <= point.begin_ns)
        ++device.ended;
      auto const ended = static_cast<std::uint32_t>(device.ended);
      last = std::max(last, device.depth);
      device.depth = device.launched > ended ? device.launched - ended : 0;
      depth = std::max(depth, device.depth);
    }
    depths.push_back(depth);
    before.push_back(last);
    if (!point.items.empty()) ++devices[steps.items[point.items.front()].device].launched;
  }
  auto const deepest = depths.empty() ? 0 : *std::max_element(depths.begin(), depths.end());
  if (deepest < least_length) return found;
  found.length = deepest;
  for (std::size_t q = 0; q < depths.size(); ++q)
    found.is_full.push_back(std::max(depths[q], before[q]) + nearly_full >= deepest);
  return found;
}

}  // namespace gpuprof::host::replay
