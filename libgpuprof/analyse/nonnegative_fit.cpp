#include "analyse/nonnegative_fit.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace gpuprof {
namespace {

using matrix = Eigen::MatrixXd;
using vector = Eigen::VectorXd;
using indices = std::vector<Eigen::Index>;

/// Added to the diagonal, which is 1: columns that repeat others share what is theirs instead of
/// making the equations unsolvable.
constexpr double ridge = 1e-9;

/// Lawson and Hanson, from the normal equations with a diagonal of 1: unknowns leave the set of
/// those that are free when they would become negative, and come back when that lessens the rest.
class active_set {
 public:
  active_set(matrix const& normal, vector const& right)
      : normal_(normal), right_(right), values_(vector::Zero(right.size())) {}

  vector solve() {
    start();
    auto const tolerance = 1e-10 * std::max(1e-300, right_.cwiseAbs().maxCoeff());
    for (Eigen::Index round = 0; round < 3 * right_.size(); ++round) {
      settle();
      vector const slope = right_ - normal_ * values_;
      Eigen::Index best = -1;
      for (Eigen::Index i = 0; i < slope.size(); ++i)
        if (!is_free_[static_cast<std::size_t>(i)] && slope[i] > tolerance &&
            (best < 0 || slope[i] > slope[best]))
          best = i;
      if (best < 0) break;
      is_free_[static_cast<std::size_t>(best)] = true;
    }
    return values_;
  }

 private:
  /// From the solution that may be negative: mostly it already says which unknowns are zero.
  void start() {
    is_free_.assign(static_cast<std::size_t>(right_.size()), true);
    values_ = solve_free().cwiseMax(0);
    for (Eigen::Index i = 0; i < right_.size(); ++i)
      is_free_[static_cast<std::size_t>(i)] = values_[i] > 0;
  }

  vector solve_free() const {
    indices free;
    for (Eigen::Index i = 0; i < right_.size(); ++i)
      if (is_free_[static_cast<std::size_t>(i)]) free.push_back(i);
    vector all = vector::Zero(right_.size());
    if (free.empty()) return all;
    matrix const normal = normal_(free, free);
    vector const right = right_(free);
    vector const found = normal.llt().solve(right);
    for (std::size_t i = 0; i < free.size(); ++i)
      all[free[i]] = found[static_cast<Eigen::Index>(i)];
    return all;
  }

  /// Goes towards the solution of the free ones, as far as none becomes negative.
  void settle() {
    while (true) {
      vector const target = solve_free();
      double step = 1;
      for (Eigen::Index i = 0; i < target.size(); ++i)
        if (is_free_[static_cast<std::size_t>(i)] && target[i] <= 0)
          step = std::min(step, values_[i] / std::max(values_[i] - target[i], 1e-300));
      if (step >= 1) {
        values_ = target.cwiseMax(0);
        return;
      }
      values_ += step * (target - values_);
      bool any = false;
      for (Eigen::Index i = 0; i < target.size(); ++i)
        if (is_free_[static_cast<std::size_t>(i)] && target[i] <= 0 &&
            values_[i] <= 1e-12 * values_.maxCoeff()) {
          is_free_[static_cast<std::size_t>(i)] = false;
          values_[i] = 0;
          any = true;
        }
      if (!any) return;  // nothing but rounding is left to gain
    }
  }

  matrix const& normal_;
  vector const& right_;
  vector values_;
  std::vector<bool> is_free_;
};

}  // namespace

nonnegative_fit::nonnegative_fit(std::size_t unknowns, std::size_t right_sides)
    : unknowns_(unknowns),
      right_sides_(right_sides),
      normal_(unknowns * unknowns),
      product_(right_sides * unknowns) {}

void nonnegative_fit::add(sparse_row row, std::span<double const> right) {
  for (auto const& [i, a] : row) {
    auto* const to = normal_.data() + std::size_t{i} * unknowns_;
    for (auto const& [j, b] : row) to[j] += a * b;
    for (std::size_t r = 0; r < right_sides_; ++r) product_[r * unknowns_ + i] += a * right[r];
  }
}

std::vector<std::vector<double>> nonnegative_fit::solve() {
  auto const n = static_cast<Eigen::Index>(unknowns_);
  std::vector<std::vector<double>> solutions(right_sides_, std::vector<double>(unknowns_));
  inverse_.assign(unknowns_ * unknowns_, 0);
  if (n == 0) return solutions;
  Eigen::Map<matrix const> const normal(normal_.data(), n, n);
  vector scale = normal.diagonal();
  for (auto& s : scale) s = s > 0 ? 1 / std::sqrt(s) : 0;
  matrix even = scale.asDiagonal() * normal * scale.asDiagonal();
  even.diagonal().setConstant(1 + ridge);  // a column without rows, too
  for (std::size_t r = 0; r < right_sides_; ++r) {
    Eigen::Map<vector const> const product(product_.data() + r * unknowns_, n);
    vector const right = scale.cwiseProduct(product);
    vector const found = scale.cwiseProduct(active_set(even, right).solve());
    std::copy(found.begin(), found.end(), solutions[r].begin());
  }
  Eigen::Map<matrix> inverse(inverse_.data(), n, n);
  inverse = scale.asDiagonal() * even.llt().solve(matrix::Identity(n, n)) * scale.asDiagonal();
  return solutions;
}

}  // namespace gpuprof
