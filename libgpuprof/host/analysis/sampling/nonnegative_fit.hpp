// SPDX-License-Identifier: Apache-2.0
// Least squares with mostly nonnegative unknowns, from normal equations. Does not store the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// A row of a sparse matrix: its nonzero columns, each once.
using sparse_row = std::span<std::pair<std::uint32_t, double> const>;

/// Solves for several right sides of one matrix. Memory grows with the square of the number of
/// unknowns.
class nonnegative_fit {
 public:
  /// `is_signed`: for each unknown, true if it may be negative.
  nonnegative_fit(std::vector<bool> is_signed, std::size_t right_sides);

  /// Fixes the unknown at 0 for this right side.
  void hold_at_zero(std::size_t right_side, std::size_t unknown) {
    held_[right_side * unknowns_ + unknown] = true;
  }
  bool is_held(std::size_t right_side, std::size_t unknown) const noexcept {
    return held_[right_side * unknowns_ + unknown];
  }

  std::size_t unknowns() const noexcept { return unknowns_; }
  std::size_t right_sides() const noexcept { return right_sides_; }
  void add(sparse_row row, std::span<double const> right);

  /// Adds to the product of the rows and a right side, as a further row would.
  void add_to_product(std::size_t right_side, std::size_t unknown, double more) {
    product_[right_side * unknowns_ + unknown] += more;
  }

  /// Returns how much of the right side's sum of squares this solution explains.
  double explained(std::size_t right_side, std::span<double const> solution) const noexcept {
    auto const* const product = product_.data() + right_side * unknowns_;
    return std::inner_product(solution.begin(), solution.end(), product, 0.0);
  }

  /// Adds to the normal matrix, which must stay symmetric. Does not change the inverse.
  void add_to_normal(std::vector<double> const& more);

  /// Call after all rows; can be called again after more rows. Returns values by right side, then
  /// unknown.
  std::vector<std::vector<double>> solve();
  /// Returns a row of the inverse of the normal matrix, which is symmetric. Call after solve().
  /// Unknowns that no row mentions have zeros.
  std::span<double const> inverse_row(std::size_t unknown) const noexcept {
    return {inverse_.data() + unknown * unknowns_, unknowns_};
  }
  /// Factor by which correlation with the other unknowns increases the variance of this one; 1
  /// without correlation. Call after solve().
  double inflation(std::size_t unknown) const noexcept {
    return normal_[unknown * unknowns_ + unknown] * inverse_row(unknown)[unknown];
  }

 private:
  std::vector<bool> is_signed_;
  std::size_t unknowns_, right_sides_;
  std::vector<double> normal_;   // unknowns x unknowns
  std::vector<double> product_;  // right sides x unknowns
  std::vector<bool> held_;       // indexed like `product_`
  std::vector<double> inverse_;
};

}  // namespace gpuprof::host
