// SPDX-License-Identifier: Apache-2.0
// The points of a sweep: what a program, kernel or range achieved at each of its sizes. Also
// evaluates the whole sweep: its plateau, where that begins, and where it leaves the roof.
#pragma once

#include "host/analysis/roofline_row.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

enum class byte_source : std::uint8_t { not_measured, counted, declared };
std::string_view name_of(byte_source source) noexcept;

/// The range over several captures of one size.
struct value_range {
  double least = 0, greatest = 0;
};

struct sweep_point {
  std::string label;           // as written by the program or the user
  std::optional<double> size;  // the label as a number, if it is one
  // number of captures, or of parts of one, that were averaged
  std::uint32_t captures = 1;
  std::uint64_t calls = 0;              // ranges or launches, in all captures
  std::optional<double> time_per_call;  // ns of GPU time
  std::optional<double> flops, bytes;   // per second of GPU time
  flop_source flops_from = flop_source::not_measured;
  byte_source bytes_from = byte_source::not_measured;
  std::optional<double> of_roof;
  bound_by bound;
  std::optional<value_range> times_per_call, all_flops, all_bytes;  // only with several captures
};

/// (greatest - least) / mean.
std::optional<double> spread_of(std::optional<value_range> const& range,
                                std::optional<double> mean) noexcept;

/// Parses a label that is only a number: "4096", "1e6", "-0.5". Not "4k" or "nan".
std::optional<double> size_of(std::string_view label) noexcept;

/// Returns one point for each size. Sorted by size if every label is a number; otherwise the labels
/// are categories, in order of first appearance.
std::vector<sweep_point> in_order(std::span<sweep_point const> points);
/// Returns true if every label is a number.
bool has_sizes(std::span<sweep_point const> points) noexcept;

// Evaluates a whole sweep: its plateau, where that begins, where it leaves the roof, and where work
// changes between memory-bound and compute-bound.

/// Values within this share of the greatest are on the plateau.
inline constexpr double plateau_width = 0.05;
/// From this share of the plateau on, a size has reached it.
inline constexpr double plateau_reached_at = 0.9;
/// A size has left the roof if its share of the roof is below this part of the plateau's.
inline constexpr double roof_left_below = 0.9;

enum class sweep_figure : std::uint8_t { none, flops, bytes };
std::optional<double> figure_of(sweep_point const& point, sweep_figure figure) noexcept;

/// The greatest sustained rate: the median of the values within 5 % of the greatest.
struct sweep_plateau {
  double value = 0;     // per second
  double greatest = 0;  // per second
  std::size_t fastest = 0;
  std::vector<std::size_t> points;  // points on the plateau, ascending
  std::optional<double> of_roof;    // median share of the roof of these points
};

/// Indices refer to points. They are set only if the points have an order, as sizes do.
struct sweep_findings {
  bool is_ordered = false;
  /// DRAM bytes if some points are bound by memory and none by compute; otherwise FLOP, if known.
  sweep_figure judged = sweep_figure::none;
  std::optional<sweep_plateau> plateau;    // only with two points or more
  std::optional<std::size_t> reached;      // the first point with 90 % of the plateau
  std::optional<std::size_t> leaves_roof;  // the first such point after the plateau's beginning
  /// The greatest size is the fastest, and no other is on the plateau: greater sizes may be faster.
  bool still_rises = false;
  struct turn {
    std::size_t from = 0, to = 0;  // neighbors, ignoring points that have another bound
    bool to_compute = true;        // false: from compute to memory
  };
  std::vector<turn> turns;  // if there is only one: the knee
};

/// The points must be in order.
sweep_findings find_in(std::span<sweep_point const> points);

}  // namespace gpuprof::host
