// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/numbered_paths.hpp"

#include <map>
#include <utility>

namespace gpuprof::host {

numbered_paths number_paths(range_tree const& tree, range_scope scope,
                            range_grouping const& line_of) {
  numbered_paths made;
  std::map<std::pair<std::uint32_t, range_key>, std::uint32_t> known;
  made.of_range.reserve(tree.size());
  for (auto const& range : tree.ranges()) {
    auto const outer = around(range, scope);
    auto const parent = outer == no_range ? no_range : made.of_range[outer];
    auto const key = line_of(range);
    auto const next = static_cast<std::uint32_t>(made.all.size());
    auto const [at, is_new] = known.try_emplace({parent, key}, next);
    if (is_new) made.all.push_back({parent, key});
    made.of_range.push_back(at->second);
  }
  return made;
}

}  // namespace gpuprof::host
