// SPDX-License-Identifier: Apache-2.0
// Gives a number to each place in which ranges lie: a name inside of names.
#pragma once

#include "host/analysis/launch_ranges.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace gpuprof::host {

/// On which line a range is listed: one for each name, or what else ranges have in common.
using range_grouping = std::function<range_key(traced_range const&)>;
inline range_key listed_by_name(traced_range const& range) noexcept {
  return key_of(range);
}

struct numbered_paths {
  struct path {
    std::uint32_t parent = no_range;  // of the path around it, always below its own
    range_key key;
  };
  std::vector<path> all;
  std::vector<std::uint32_t> of_range;  // by index into the range tree
};

/// `line_of`: ranges that lie in the same place are told apart by this; asked once for each range.
numbered_paths number_paths(range_tree const& tree, range_scope scope,
                            range_grouping const& line_of);

}  // namespace gpuprof::host
