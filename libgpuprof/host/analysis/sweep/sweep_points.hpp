// SPDX-License-Identifier: Apache-2.0
// The points of a sweep: what one program, kernel or range achieved at each of its sizes.
#pragma once

#include "host/analysis/roofline_row.hpp"

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

}  // namespace gpuprof::host
