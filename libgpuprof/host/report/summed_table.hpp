// SPDX-License-Identifier: Apache-2.0
// One report of several ranks: lines that say the same on each are added up.
#pragma once

#include "host/analysis/ranks/rank_spread.hpp"
#include "text/table.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuprof::host::report {

/// Of tables with a total, a count and the spread of single records. Their texts tell the lines
/// apart. What cannot be had from sums (the median) and numbers of processes have no column;
/// columns about the ranks stand behind the spread.
class summed_table {
 public:
  /// Whether a report of these columns can be added up.
  static bool takes(text::table const& report);

  /// The first one gives name, title and columns. `rank`: its place in the list of finish().
  void add(text::table const& report, std::size_t rank);

  /// Greatest total first.
  text::table finish(std::vector<std::string> const& rank_labels) const;

 private:
  struct line {
    std::vector<std::int64_t> sums;  // of each sum column, the total and the count among them
    double count = 0, mean = 0, deviations = 0;  // squared ones, added up
    std::int64_t minimum = 0, maximum = 0;
    std::vector<rank_value> of_ranks;
  };
  void add_to(line& of, text::row const& cells, std::size_t rank) const;
  text::row cells_of(std::vector<std::string> const& texts, line const& of, std::int64_t all) const;

  std::string name_, title_;
  std::vector<text::column> columns_;
  std::size_t total_ = 0, count_ = 0;  // their columns
  std::map<std::vector<std::string>, line> lines_;
};

}  // namespace gpuprof::host::report
