// SPDX-License-Identifier: Apache-2.0
// What is known of one workload, from counters, samples and its machine code.
#pragma once

#include "host/analysis/flop_accounting.hpp"
#include "host/analysis/roofline_row.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

namespace gpuprof {

/// Amounts are per launch.
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

}  // namespace gpuprof
