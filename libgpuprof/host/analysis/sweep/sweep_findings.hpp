// SPDX-License-Identifier: Apache-2.0
// What a sweep says as a whole: its plateau, where that begins, where it leaves the roof, and where
// work turns from memory-bound to compute-bound.
#pragma once

#include "host/analysis/sweep/sweep_points.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gpuprof::host {

/// Values so near to the greatest are on the plateau.
inline constexpr double plateau_width = 0.05;
/// This share of the plateau is taken as having reached it.
inline constexpr double plateau_reached_at = 0.9;
/// Below this share of what the plateau has of the roof, a size has left it.
inline constexpr double roof_left_below = 0.9;

enum class sweep_figure : std::uint8_t { none, flops, bytes };
std::optional<double> figure_of(sweep_point const& point, sweep_figure figure) noexcept;

/// The greatest sustained figure: the median of the values within 5 % of the greatest.
struct sweep_plateau {
  double value = 0;     // per second
  double greatest = 0;  // likewise
  std::size_t fastest = 0;
  std::vector<std::size_t> points;  // on it, ascending
  std::optional<double> of_roof;    // the median of theirs
};

/// Places are indices of points. They are there where the points have an order: sizes.
struct sweep_findings {
  bool is_ordered = false;
  /// DRAM bytes where memory bounds some points and nothing is bound by computing; else FLOP, where
  /// there are any.
  sweep_figure judged = sweep_figure::none;
  std::optional<sweep_plateau> plateau;    // of two points or more
  std::optional<std::size_t> reached;      // the first with 90 % of it
  std::optional<std::size_t> leaves_roof;  // the first beyond the plateau's beginning
  /// The fastest is the greatest size, and alone: a greater one may be faster.
  bool still_rises = false;
  struct turn {
    std::size_t from = 0, to = 0;  // neighbors, but for points that neither bounds
    bool to_compute = true;        // else from compute to memory
  };
  std::vector<turn> turns;  // one: the knee
};

/// Of points that are in order.
sweep_findings find_in(std::span<sweep_point const> points);

}  // namespace gpuprof::host
