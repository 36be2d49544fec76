// SPDX-License-Identifier: Apache-2.0
// How long the program spent in NVTX ranges of each name, on the CPU.
#pragma once

#include "host/analysis/range_tree.hpp"
#include "host/analysis/samples.hpp"

#include <functional>
#include <vector>

namespace gpuprof {

struct range_row {
  range_key key;
  statistics time;
};

/// Says whether a range, by its index, is to be counted.
using range_filter = std::function<bool(std::uint32_t)>;

/// Longest total first.
std::vector<range_row> ranges_by_name(range_tree const& tree, range_filter const& keeps = {});

}  // namespace gpuprof
