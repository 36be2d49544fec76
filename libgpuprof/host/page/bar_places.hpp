// SPDX-License-Identifier: Apache-2.0
// Gives the bars of a timeline their place in the program: the line that launched or called them.
#pragma once

#include "host/page/timeline_bars.hpp"
#include "host/page/timeline_pieces.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::page {

/// Give it pieces in order of time, as the bars got them.
class bar_places {
 public:
  bar_places(timeline_bars& bars, lanes_by_row const& rows, std::vector<std::string>& places)
      : bars_(bars), rows_(rows), places_(places) {}

  /// Sets the place of the bar that is named after this piece. An empty place: it is not known.
  void add_piece(row_key const& row, std::uint64_t start_ns, std::uint64_t length_ns,
                 std::string const& place);
  /// Sets the place of the calls on this row that are open at this moment, unless they have one.
  void add_launch(row_key const& row, std::uint64_t moment_ns, std::string const& place);

 private:
  std::uint32_t number_of(std::string const& place);

  timeline_bars& bars_;
  lanes_by_row const& rows_;
  std::vector<std::string>& places_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace gpuprof::host::page
