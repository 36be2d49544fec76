// SPDX-License-Identifier: Apache-2.0
// The points of a sweep: what one program, kernel or range achieved at each of its sizes; and what
// they say as a whole: the plateau, where it begins, where it leaves the roof.
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

/// Of several captures of one size.
struct value_range {
  double least = 0, greatest = 0;
};

struct sweep_point {
  std::string label;                    // as the program or the user wrote it
  std::optional<double> size;           // of the label, where that is a number
  std::uint32_t captures = 1;           // or parts of one, of which the figures are the mean
  std::uint64_t calls = 0;              // ranges, or launches; of all captures
  std::optional<double> time_per_call;  // ns of GPU time
  std::optional<double> flops, bytes;   // per second of it
  flop_source flops_from = flop_source::not_measured;
  byte_source bytes_from = byte_source::not_measured;
  std::optional<double> of_roof;
  bound_by bound;
  std::optional<value_range> times_per_call, all_flops, all_bytes;  // where it is of several
};

/// Greatest less least, as a share of the mean.
std::optional<double> spread_of(std::optional<value_range> const& range,
                                std::optional<double> mean) noexcept;

/// The number that is all of a label: "4096", "1e6", "-0.5". "4k" is none, nor is "nan".
std::optional<double> size_of(std::string_view label) noexcept;

/// One point for each size. Ascending where every label is a number; else labels are categories, in
/// the order in which they first come.
std::vector<sweep_point> in_order(std::span<sweep_point const> points);
/// Whether every label is a number.
bool has_sizes(std::span<sweep_point const> points) noexcept;

// What a sweep says as a whole: its plateau, where that begins, where it leaves the roof, and where
// work turns from memory-bound to compute-bound.

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
