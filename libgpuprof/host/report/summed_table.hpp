// SPDX-License-Identifier: Apache-2.0
// Combines one report of several ranks: lines with the same text on each are added up.
#pragma once

#include "host/analysis/ranks/rank_spread.hpp"
#include "text/table.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuprof::host::report {

/// Adds up tables with a total, a count and the spread of single records. Lines are matched by
/// their texts. There are no columns for values that cannot be computed from sums (the median) or
/// for process numbers; columns about the ranks follow the spread.
class summed_table {
 public:
  /// True if a report with these columns can be added up.
  static bool takes(text::table const& report);

  /// The first report gives name, title and columns. `rank` is an index into the labels of
  /// finish().
  void add(text::table const& report, std::size_t rank);

  /// Lines are sorted by total, the greatest first.
  text::table finish(std::vector<std::string> const& rank_labels) const;

 private:
  struct line {
    std::vector<std::int64_t> sums;  // one per sum column, including the total and the count
    double count = 0, mean = 0, deviations = 0;  // deviations: sum of squares
    std::int64_t minimum = 0, maximum = 0;
    std::vector<rank_value> of_ranks;
  };
  void add_to(line& of, text::row const& cells, std::size_t rank) const;
  text::row cells_of(std::vector<std::string> const& texts, line const& of, std::int64_t all) const;

  std::string name_, title_;
  std::vector<text::column> columns_;
  std::size_t total_ = 0, count_ = 0;  // indexes of their columns
  std::map<std::vector<std::string>, line> lines_;
};

}  // namespace gpuprof::host::report
