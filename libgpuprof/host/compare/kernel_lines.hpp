// SPDX-License-Identifier: Apache-2.0
// The lines of kernels, and what they tell about the run as a whole: its clock, and what all
// kernels share.
#pragma once

#include "host/compare/difference.hpp"
#include "host/compare/line_values.hpp"

#include <optional>
#include <span>
#include <vector>

namespace gpuprof::host::compare {

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
