// SPDX-License-Identifier: Apache-2.0
// Computes the FLOP of a launch from ranges that declare FLOP and contain only one kernel.
#pragma once

#include "host/analysis/range_tree.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// A range that declares FLOP with several kernels inside says nothing about each of them. With one
/// kernel, launched any number of times, a launch gets the declared FLOP divided by the launches.
/// If a launch was lost, the result is too high, never too low.
class declared_launches {
 public:
  /// Pass this as `kernel` for a graph, which may run any kernels.
  static constexpr std::uint64_t several = ~std::uint64_t{0};

  /// `flops` holds the ranges that declare FLOP. The tree must outlive this object.
  declared_launches(range_tree const& tree, std::map<range_id, double> const& flops);

  /// Returns true if any range declares FLOP. Otherwise nothing needs to be added.
  bool any() const noexcept { return !ranges_.empty(); }
  /// Adds a launch of `kernel`, any number that identifies the kernel. `innermost` is the range of
  /// the launch, or no_range. The launch counts in the innermost declaring range around it.
  void add(std::uint64_t kernel, std::uint32_t innermost);

  struct declaration {
    double flops = 0;            // sum over all these ranges
    std::uint64_t launches = 0;  // launches in these ranges
  };
  /// Returns declarations by kernel, without kernels that never were the only kernel of a declaring
  /// range.
  std::unordered_map<std::uint64_t, declaration> by_kernel() const;

 private:
  struct declaring_range {
    double flops = 0;  // 0: none
    std::uint64_t kernel = 0;
    std::uint64_t launches = 0;
  };
  range_tree const& tree_;
  std::vector<declaring_range> ranges_;  // indexed like the tree; empty: no range declares FLOP
};

}  // namespace gpuprof::host
