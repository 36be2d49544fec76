// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/nonnegative_fit.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace gpuprof::host {
namespace {

using matrix = Eigen::MatrixXd;
using vector = Eigen::VectorXd;
using indices = std::vector<Eigen::Index>;

/// Added to the diagonal, which is 1: repeated columns share their amount instead of making the
/// equations unsolvable.
constexpr double ridge = 1e-9;

/// Solves the normal equations, scaled to a diagonal of 1, with the method of Lawson and Hanson: an
/// unknown is fixed at 0 when it would become negative, and freed again when that reduces the
/// residual.
class active_set {
 public:
  /// `whole` is the decomposition of all of `normal`, which is enough for most right sides.
  /// `is_held` marks unknowns that are 0.
  active_set(matrix const& normal, Eigen::LLT<matrix> const& whole, vector const& right,
             std::vector<bool> const& is_signed, std::vector<bool> is_held)
      : normal_(normal),
        whole_(whole),
        right_(right),
        is_signed_(is_signed),
        is_held_(std::move(is_held)),
        values_(vector::Zero(right.size())),
        is_free_(is_held_) {
    is_free_.flip();
  }

  vector solve() {
    start();
    auto const tolerance = 1e-10 * std::max(1e-300, right_.cwiseAbs().maxCoeff());
    for (Eigen::Index round = 0; round < 3 * right_.size(); ++round) {
      settle();
      auto const best = steepest(tolerance);
      if (!best) break;
      is_free_[*best] = true;
    }
    return values_;
  }

 private:
  double& value(std::size_t i) { return values_[static_cast<Eigen::Index>(i)]; }

  /// Starts from the solution without constraints, which mostly shows already which unknowns are 0.
  void start() {
    values_ = solve_free();
    for (std::size_t i = 0; i < is_free_.size(); ++i) {
      if (is_signed_[i] || value(i) > 0) continue;
      is_free_[i] = false;
      value(i) = 0;
    }
  }

  vector solve_free() const {
    indices free;
    for (std::size_t i = 0; i < is_free_.size(); ++i)
      if (is_free_[i]) free.push_back(static_cast<Eigen::Index>(i));
    if (free.size() == is_free_.size()) return whole_.solve(right_);
    vector all = vector::Zero(right_.size());
    if (free.empty()) return all;
    matrix const normal = normal_(free, free);
    vector const right = right_(free);
    vector const found = normal.llt().solve(right);
    for (std::size_t i = 0; i < free.size(); ++i)
      all[free[i]] = found[static_cast<Eigen::Index>(i)];
    return all;
  }

  /// Returns the unknown fixed at 0 that would reduce the residual fastest.
  std::optional<std::size_t> steepest(double tolerance) const {
    vector const slope = right_ - normal_ * values_;
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < is_free_.size(); ++i) {
      auto const here = slope[static_cast<Eigen::Index>(i)];
      if (is_free_[i] || is_held_[i] || here <= tolerance) continue;
      if (!best || here > slope[static_cast<Eigen::Index>(*best)]) best = i;
    }
    return best;
  }

  /// Moves towards the solution of the free unknowns until one would become negative, and repeats.
  void settle() {
    while (true) {
      vector const target = solve_free();
      auto const blocks = [&](std::size_t i) {
        return is_free_[i] && !is_signed_[i] && target[static_cast<Eigen::Index>(i)] <= 0;
      };
      double step = 1;
      for (std::size_t i = 0; i < is_free_.size(); ++i) {
        if (!blocks(i)) continue;
        auto const way = value(i) - target[static_cast<Eigen::Index>(i)];
        step = std::min(step, way > 0 ? value(i) / way : 0);
      }
      values_ += step * (target - values_);
      if (step >= 1) return;
      auto const nothing = 1e-12 * values_.cwiseAbs().maxCoeff();
      for (std::size_t i = 0; i < is_free_.size(); ++i) {
        if (!blocks(i) || value(i) > nothing) continue;
        is_free_[i] = false;
        value(i) = 0;
      }
    }
  }

  matrix const& normal_;
  Eigen::LLT<matrix> const& whole_;
  vector const& right_;
  std::vector<bool> const& is_signed_;
  std::vector<bool> const is_held_;
  vector values_;
  std::vector<bool> is_free_;
};

}  // namespace

nonnegative_fit::nonnegative_fit(std::vector<bool> is_signed, std::size_t right_sides)
    : is_signed_(std::move(is_signed)),
      unknowns_(is_signed_.size()),
      right_sides_(right_sides),
      normal_(unknowns_ * unknowns_),
      product_(right_sides * unknowns_),
      held_(right_sides * unknowns_) {}

void nonnegative_fit::add(sparse_row row, std::span<double const> right) {
  inverse_.clear();
  for (auto const& [i, a] : row) {
    auto* const to = normal_.data() + std::size_t{i} * unknowns_;
    for (auto const& [j, b] : row) to[j] += a * b;
    for (std::size_t r = 0; r < right_sides_; ++r) product_[r * unknowns_ + i] += a * right[r];
  }
}

void nonnegative_fit::add_to_normal(std::vector<double> const& more) {
  for (std::size_t i = 0; i < normal_.size(); ++i) normal_[i] += more[i];
}

std::vector<std::vector<double>> nonnegative_fit::solve() {
  auto const n = static_cast<Eigen::Index>(unknowns_);
  std::vector<std::vector<double>> solutions(right_sides_, std::vector<double>(unknowns_));
  if (n == 0) return solutions;
  Eigen::Map<matrix const> const normal(normal_.data(), n, n);
  vector scale = normal.diagonal();
  for (auto& s : scale) s = s > 0 ? 1 / std::sqrt(s) : 0;
  matrix even = scale.asDiagonal() * normal * scale.asDiagonal();
  even.diagonal().setConstant(1 + ridge);  // also for a column without rows
  Eigen::LLT<matrix> const whole(even);
  for (std::size_t r = 0; r < right_sides_; ++r) {
    Eigen::Map<vector const> const product(product_.data() + r * unknowns_, n);
    vector const right = scale.cwiseProduct(product);
    auto const held = held_.begin() + n * static_cast<Eigen::Index>(r);
    active_set free(even, whole, right, is_signed_, {held, held + n});
    vector const found = scale.cwiseProduct(free.solve());
    std::copy(found.begin(), found.end(), solutions[r].begin());
  }
  if (!inverse_.empty()) return solutions;  // already computed for these rows
  inverse_.resize(unknowns_ * unknowns_);
  Eigen::Map<matrix> inverse(inverse_.data(), n, n);
  inverse = scale.asDiagonal() * whole.solve(matrix::Identity(n, n)) * scale.asDiagonal();
  return solutions;
}

}  // namespace gpuprof::host
