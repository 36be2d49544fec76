// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"

#include <algorithm>
#include <vector>

namespace gpuprof {
namespace {

/// Counts letters that are inserted, removed, replaced, or swapped with the next one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto const replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view word, std::span<std::string const> names) {
  std::string best;
  auto fewest = word.size() / 3 + 1;  // with more edits it is a different word, not a misspelling
  for (auto const& name : names) {
    auto const edits = edit_distance(word, name);
    if (edits < fewest) {
      fewest = edits;
      best = name;
    }
  }
  return best;
}

}  // namespace gpuprof
