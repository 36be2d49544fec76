// SPDX-License-Identifier: Apache-2.0
#include "host/page/kernel_neighbors.hpp"

#include <algorithm>

namespace gpuprof::host::page {

void kernel_neighbors::add(std::uint32_t device, std::uint32_t context, std::uint32_t stream,
                           std::uint32_t kernel) {
  auto const [last, is_first] = last_.try_emplace({device, context, stream}, kernel);
  if (is_first) return;
  auto const pair = static_cast<std::uint64_t>(last->second) << 32 | kernel;
  last->second = kernel;
  if (auto const known = pairs_.find(pair); known != pairs_.end())
    ++known->second;
  else if (pairs_.size() < limit_)
    pairs_.emplace(pair, 1);
  else
    ++not_counted_;
}

std::vector<kernel_surroundings> kernel_neighbors::of_each(std::size_t kernels,
                                                           std::size_t most) const {
  std::vector<kernel_surroundings> all(kernels);
  for (auto const& [pair, times] : pairs_) {
    auto const before = static_cast<std::uint32_t>(pair >> 32);
    auto const after = static_cast<std::uint32_t>(pair);
    if (after < kernels) all[after].before.push_back({before, times});
    if (before < kernels) all[before].after.push_back({after, times});
  }
  auto const sort = [most](std::vector<neighbor>& list) {
    std::sort(list.begin(), list.end(), [](neighbor const& a, neighbor const& b) {
      return a.times != b.times ? a.times > b.times : a.kernel < b.kernel;
    });
    if (list.size() > most) list.resize(most);
  };
  for (auto& [before, after] : all) {
    sort(before);
    sort(after);
  }
  return all;
}

}  // namespace gpuprof::host::page
