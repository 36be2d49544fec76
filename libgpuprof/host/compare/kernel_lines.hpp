// SPDX-License-Identifier: Apache-2.0
// Makes the lines of kernels from their values in the runs of a side, and derives the clock of each
// run and the change common to all kernels.
#pragma once

#include "host/compare/difference.hpp"
#include "host/compare/run_digest.hpp"

#include <optional>
#include <span>
#include <vector>

namespace gpuprof::host::compare {

// The values of one line in each run of a side: means to show, logarithms to test.

/// The values of one line in one run.
struct line_value {
  double launches = 0, total_ns = 0;
  double call_ns = 0;                // from estimate_of()
  double error = 0, fast_error = 0;  // relative change of call_ns
  double freedom = 0;
  std::optional<double> clock;  // Hz; 1 if the clock does not matter; nothing: not known
  double clock_error = 0;       // a share
  std::optional<double> of_roof, dram_rate, flops;
  bool is_host_copy = false;
};

line_value value_of(duration_series const& durations);

/// Sums several kernels into one line; `parts` launches of them count as one call.
line_value value_of(run_digest const& run, std::span<kernel_key const> keys, double parts);

/// Returns the divisor for totals: the number of steps, or 1 without steps.
double steps_of(run_digest const& run, bool by_step);

amount amount_of(std::span<run_digest const> side, std::span<line_value const> values,
                 bool by_step);

/// Returns true if each run has enough repetitions.
bool are_known(std::span<line_value const> values);

struct kernel_lines {
  std::vector<difference> lines;  // without verdicts
  /// By run, relative to the base: how much the clock lengthened kernels, as a logarithm averaged
  /// by time. Empty if the clock is known for less than half of the time.
  std::vector<double> base_clock, fresh_clock;
  std::optional<double> shared;  // common slowdown of all kernels, without the clock's effect
};

struct compared_by {
  bool steps = false;  // totals are per step
  bool roof = false;   // compares shares of the roof instead of times, for different GPUs
};

kernel_lines compare_kernels(std::span<run_digest const> base, std::span<run_digest const> fresh,
                             compared_by by);

}  // namespace gpuprof::host::compare
