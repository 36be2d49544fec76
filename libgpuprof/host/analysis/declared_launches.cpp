// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/declared_launches.hpp"

namespace gpuprof::host {

declared_launches::declared_launches(range_tree const& tree,
                                     std::map<range_id, double> const& flops)
    : tree_(tree) {
  for (auto const& [id, amount] : flops) {
    auto const range = tree.index_of(id);
    if (range == no_range || !(amount > 0)) continue;
    ranges_.resize(tree.size());
    ranges_[range].flops = amount;
  }
}

void declared_launches::add(std::uint64_t kernel, std::uint32_t innermost) {
  if (ranges_.empty()) return;
  auto at = innermost;
  while (at != no_range && !(ranges_[at].flops > 0)) at = tree_[at].around();
  if (at == no_range) return;
  auto& range = ranges_[at];
  range.kernel = range.launches == 0 || range.kernel == kernel ? kernel : several;
  ++range.launches;
}

std::unordered_map<std::uint64_t, declared_launches::declaration> declared_launches::by_kernel()
    const {
  std::unordered_map<std::uint64_t, declaration> kernels;
  for (auto const& range : ranges_) {
    if (range.launches == 0 || range.kernel == several) continue;
    auto& of = kernels[range.kernel];
    of.flops += range.flops;
    of.launches += range.launches;
  }
  return kernels;
}

}  // namespace gpuprof::host
