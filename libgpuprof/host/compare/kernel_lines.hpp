// SPDX-License-Identifier: Apache-2.0
// The lines of kernels: their figures over the runs of a side, and what they tell about the run as
// a whole: its clock, and what all kernels share.
#pragma once

#include "host/compare/difference.hpp"
#include "host/compare/run_digest.hpp"

#include <optional>
#include <span>
#include <vector>

namespace gpuprof::host::compare {

// The figures of one line over the runs of a side: means to show, logarithms to test.

/// Of one line in one run.
struct line_value {
  double launches = 0, total_ns = 0;
  double call_ns = 0;                // as estimate_of has it
  double error = 0, fast_error = 0;  // of call_ns, a share
  double freedom = 0;
  std::optional<double> clock;  // Hz; 1 where the clock does not matter; nothing: not known
  double clock_error = 0;       // a share
  std::optional<double> of_roof, dram_rate, flops;
};

line_value value_of(duration_series const& durations);

/// Several kernels as one line; `parts` of them are one call.
line_value value_of(run_digest const& run, std::span<kernel_key const> keys, double parts);

/// Steps of a run, by which totals are divided; 1 where there are none.
double steps_of(run_digest const& run, bool by_step);

amount amount_of(std::span<run_digest const> side, std::span<line_value const> values,
                 bool by_step);

/// Whether each run has enough repetitions.
bool are_known(std::span<line_value const> values);

struct kernel_lines {
  std::vector<difference> lines;  // not judged yet
  /// By run, over the clocks of the base: by how much time the clock lengthened kernels, a
  /// logarithm, the mean by time. Empty: it is known for less than half of the time.
  std::vector<double> base_clock, fresh_clock;
  std::optional<double> shared;  // by how much all kernels are slower, clock taken out
};

struct compared_by {
  bool steps = false;  // totals are a step's
  bool roof = false;   // other GPUs: shares of their roof instead of times
};

kernel_lines compare_kernels(std::span<run_digest const> base, std::span<run_digest const> fresh,
                             compared_by by);

}  // namespace gpuprof::host::compare
