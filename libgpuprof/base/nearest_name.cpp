#include "base/nearest_name.hpp"

#include <algorithm>
#include <vector>

namespace gpuprof {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto const replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view word, std::span<std::string const> names) {
  std::string best;
  auto fewest = word.size() / 3 + 1;  // further away it is another word, not a misspelling
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
