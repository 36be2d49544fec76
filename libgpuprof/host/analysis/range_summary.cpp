// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/range_summary.hpp"

#include <algorithm>
#include <map>

namespace gpuprof {

std::vector<range_row> ranges_by_name(range_tree const& tree, range_filter const& keeps) {
  std::map<range_key, samples> by_key;
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    if (keeps && !keeps(i)) continue;
    by_key[key_of(tree[i])].add(nanoseconds(tree[i].duration()));
  }
  std::vector<range_row> rows;
  for (auto& [key, series] : by_key) rows.push_back({key, series.summarise()});
  std::stable_sort(rows.begin(), rows.end(), [](range_row const& a, range_row const& b) {
    return a.time.total > b.time.total;
  });
  return rows;
}

}  // namespace gpuprof
