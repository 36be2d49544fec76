// SPDX-License-Identifier: Apache-2.0
// Least squares in which most unknowns cannot be negative, from normal equations: rows are not
// kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// A row of a sparse matrix: the columns that are not zero, each once.
using sparse_row = std::span<std::pair<std::uint32_t, double> const>;

/// For several right sides of one matrix. Memory is the square of the number of unknowns.
class nonnegative_fit {
 public:
  /// `is_signed`: by unknown, whether it may be negative.
  nonnegative_fit(std::vector<bool> is_signed, std::size_t right_sides);

  /// This unknown is known to be 0 for that right side.
  void hold_at_zero(std::size_t right_side, std::size_t unknown) {
    held_[right_side * unknowns_ + unknown] = true;
  }
  bool is_held(std::size_t right_side, std::size_t unknown) const noexcept {
    return held_[right_side * unknowns_ + unknown];
  }

  std::size_t unknowns() const noexcept { return unknowns_; }
  std::size_t right_sides() const noexcept { return right_sides_; }
  void add(sparse_row row, std::span<double const> right);

  /// Adds to what the rows make of a right side, as one with these products would.
  void add_to_product(std::size_t right_side, std::size_t unknown, double more) {
    product_[right_side * unknowns_ + unknown] += more;
  }

  /// What of the squares of a right side this solution explains.
  double explained(std::size_t right_side, std::span<double const> solution) const noexcept {
    auto const* const product = product_.data() + right_side * unknowns_;
    return std::inner_product(solution.begin(), solution.end(), product, 0.0);
  }

  /// Adds to the normal matrix, which stays symmetric; the inverse stays that of the rows.
  void add_to_normal(std::vector<double> const& more);

  /// After all rows; may be asked again after more of them. By right side, then unknown.
  std::vector<std::vector<double>> solve();
  /// The inverse of the normal matrix, after solve(): symmetric, a row for each unknown. Unknowns
  /// without a row that mentions them have none: zeros.
  std::span<double const> inverse_row(std::size_t unknown) const noexcept {
    return {inverse_.data() + unknown * unknowns_, unknowns_};
  }
  /// By how much the others, able to stand for this one, inflate its variance: 1 when it is on its
  /// own. After solve().
  double inflation(std::size_t unknown) const noexcept {
    return normal_[unknown * unknowns_ + unknown] * inverse_row(unknown)[unknown];
  }

 private:
  std::vector<bool> is_signed_;
  std::size_t unknowns_, right_sides_;
  std::vector<double> normal_;   // unknowns x unknowns
  std::vector<double> product_;  // right sides x unknowns
  std::vector<bool> held_;       // as product_
  std::vector<double> inverse_;
};

}  // namespace gpuprof::host
