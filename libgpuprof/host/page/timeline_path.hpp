// SPDX-License-Identifier: Apache-2.0
// The critical paths that a timeline shows as lines from bar to bar, with few enough links for a
// page.
#pragma once

#include "host/export/traced_path.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gpuprof::host::page {

/// The row of a timeline on which a link lies: its group and its label.
struct link_row {
  std::string group, name;
  bool operator==(link_row const&) const = default;
};
link_row row_of(traced_link const& link);

/// Joins neighbors until at most so many links are left. A joined link has the row of the longest
/// of them. `links` is in order of time.
std::vector<traced_link> joined_links(std::vector<traced_link> links, std::size_t max_links);

}  // namespace gpuprof::host::page
