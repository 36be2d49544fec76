// SPDX-License-Identifier: Apache-2.0
// The FLOP of a launch as the program declares them: by ranges in which one kernel alone runs.
#pragma once

#include "host/analysis/range_tree.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// A range that declares FLOP says nothing of each of several kernels inside. It does of one, and
/// of many launches of that: what is declared, divided by them. Where a launch was lost that is
/// too much, never too little.
class declared_launches {
 public:
  /// As a kernel: a graph, in which any may run.
  static constexpr std::uint64_t several = ~std::uint64_t{0};

  /// `flops`: of the ranges that declare some. The tree outlives it.
  declared_launches(range_tree const& tree, std::map<range_id, double> const& flops);

  /// Whether any range declares FLOP: else nothing needs to be added.
  bool any() const noexcept { return !ranges_.empty(); }
  /// A launch of this kernel, told apart from others by any number; `innermost`: the range that it
  /// counts in, or no_range. It belongs to the innermost of those around it that declare.
  void add(std::uint64_t kernel, std::uint32_t innermost);

  struct declaration {
    double flops = 0;            // of all launches in such ranges
    std::uint64_t launches = 0;  // in them
  };
  /// By kernel; without those that never ran alone in a range that declares.
  std::unordered_map<std::uint64_t, declaration> by_kernel() const;

 private:
  struct declaring_range {
    double flops = 0;  // 0: none
    std::uint64_t kernel = 0;
    std::uint64_t launches = 0;
  };
  range_tree const& tree_;
  std::vector<declaring_range> ranges_;  // as in the tree; empty: none declares
};

}  // namespace gpuprof::host
