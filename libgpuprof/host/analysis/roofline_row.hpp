// SPDX-License-Identifier: Apache-2.0
// A line of the roofline report, and what is known of one workload: what a kernel, a signature, a
// graph or a range achieved.
#pragma once

#include "host/analysis/flop_accounting.hpp"
#include "host/analysis/workload_metrics.hpp"
#include "model/precisions.hpp"
#include "model/records.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace gpuprof::host {

/// Where the figures of the units are from.
struct figure_sources {
  figure_source dram{}, l2{}, clock{}, occupancy{}, tensor{};
  bool is_shared = false;  // other launches ran beside these for most of their time
  /// Of all but the clock, which no other work disturbs; where there are no others, its own.
  figure_source all() const noexcept {
    auto const others = both(both(dram, l2), both(occupancy, tensor));
    return others == figure_source::none ? clock : others;
  }
};

/// Of the time of a line: what is known for so much of it.
struct known_shares {
  double dram = 0, l2 = 0, clock = 0, occupancy = 0, tensor = 0;
};
/// By how much what is known of a graph's kernels, added up, is more than what was counted around
/// the whole graph; shares of that. Nothing where a kernel is not known, or where copies of the
/// graph were counted with it.
struct nodes_check {
  std::optional<double> dram, l2, tensor_cycles;
};

/// A line: one signature, one kernel name, one graph, or one range name. Rates are of the launches
/// whose figure was counted, while they ran as if nobody counted; there are none where these are
/// less than half of the line's time.
struct roofline_row {
  std::string name;
  extent3 grid, block;  // signatures only
  /// Signatures only, where several lines differ in nothing else: as in kernel_shape.
  std::optional<std::uint32_t> arguments;
  std::uint64_t instances = 0;  // of the range
  std::uint64_t launches = 0;
  std::uint64_t samples = 0;              // valid ones
  std::set<std::uint32_t> read_by_ranks;  // other ones of the job, whose readings are among these
  double total_ns = 0;
  double time_share = 0;          // of the time of all kernels
  std::optional<double> mean_ns;  // of a launch around which nothing was read

  std::array<std::optional<double>, precision_count> flops;  // per second
  std::optional<double> total_flops;                         // per second
  flop_source source = flop_source::not_measured;            // of the total
  double exact_share = 0;  // of the line's time: its FLOP were counted in full, or there are none
  double known_share = 0;  // likewise: its FLOP are known, by whatever source but a marker
  std::optional<double> dram_rate, l2_rate;    // bytes per second
  std::optional<double> dram_error, l2_error;  // of these, one standard error
  std::optional<double> intensity;             // FLOP per DRAM byte
  std::optional<double> l2_intensity;          // FLOP per L2 byte
  std::optional<double> clock;                 // Hz
  std::optional<double> occupancy, tensor_active;
  // One standard error of each; nothing where it was read around launches, or only once.
  std::array<std::optional<double>, precision_count> flops_error;
  std::optional<double> total_flops_error, clock_error, occupancy_error, tensor_active_error;
  /// Some of the FLOP are what would be computed with all lanes of the warps: lanes may have been
  /// off, which nobody counted. Then the errors of FLOP are how much less it may have been, and
  /// this is how much more.
  bool flops_are_limit = false;
  std::optional<double> total_flops_above;
  std::optional<double> flops_low() const noexcept {
    if (!total_flops || !total_flops_error) return std::nullopt;
    return *total_flops > *total_flops_error ? *total_flops - *total_flops_error : 0;
  }
  std::optional<double> flops_high() const noexcept {
    if (!total_flops || !total_flops_error) return std::nullopt;
    return *total_flops + (flops_are_limit ? total_flops_above.value_or(0) : *total_flops_error);
  }
  figure_sources from;
  known_shares known;

  nodes_check nodes;  // graphs only

  roof_shares shares;
  std::optional<double> clock_loss;
  /// Of one kernel: its highest share, and which that is. Of a line of many kernels (a range, a
  /// graph whose kernels are known): the mean of theirs by time, and what most of the time is bound
  /// by; each kernel can only get to its own roof.
  bound_by bound;
  std::optional<double> of_roof;
  std::optional<double> to_roof_ns;  // what a launch would be shorter there: mean_ns (1 - of_roof)
  std::optional<double> potential_gain;  // of the time of all kernels: time_share (1 - of_roof)
};

/// What is known of one workload, from counters, samples and its machine code. Amounts are per
/// launch.
struct workload_figures {
  counted_flop flop;
  std::optional<double> cycles_flop;  // by the cycles of the tensor cores
  bool cycles_are_sampled = false;
  double cycles_error = 0;
  precision cycles_precision{};
  std::string_view cycles_peak;    // what they are compared with
  std::optional<double> fma_flop;  // by the instructions of the FMA pipes
  double fma_error = 0;            // of it, by the samples
  // How far the truth may lie there by the rule, alike for all workloads of a kernel.
  double fma_below = 0, fma_above = 0;
  bool fma_is_limit = false;  // lanes may have been off
  std::optional<double> dram_bytes, dram_written, l2_bytes, clock, clock_loss, occupancy,
      tensor_active;
  double dram_error = 0, l2_error = 0, clock_error = 0, occupancy_error = 0, tensor_error = 0;
  figure_sources from;
  std::optional<double> mean_ns;
  roof_shares shares;
  bound_by bound;
  std::optional<double> best;
  std::uint64_t samples = 0;
  std::set<std::uint32_t> read_by_ranks;
  bool is_exact() const noexcept { return flop.total && !cycles_flop && !fma_flop; }
  struct errors {
    double by_chance = 0, bias = 0;  // `bias` downwards
    double bias_above = 0;
  };
  /// One standard error of the operations of a precision, and of all.
  errors error_of(precision p) const noexcept;
  errors flop_error() const noexcept;
  /// Of all precisions, or what is known of the tensor cores.
  std::optional<double> known_flop() const noexcept {
    return flop.total ? flop.total : flop.tensor_alone ? flop.tensor_alone : cycles_flop;
  }
};

}  // namespace gpuprof::host
