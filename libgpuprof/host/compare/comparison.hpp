// SPDX-License-Identifier: Apache-2.0
// Compares two sides of one or more runs each: what differs, by how much, and what is noise. Does
// no input or output.
#pragma once

#include "host/compare/difference.hpp"
#include "host/compare/run_digest.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::compare {

/// Kernels below this share of the time on both sides are not used for the common change.
inline constexpr double least_share = 0.002;
/// Probability that any line is called better or worse although nothing changed.
inline constexpr double error_rate = 0.02;

struct comparison {
  std::vector<difference> lines;  // sorted by kind, then by cost
  std::string step;               // the range that repeats; empty: totals are per run
  bool is_single = false;         // one run per side
  bool is_by_roof = false;        // the sides used different GPUs
  bool is_same = false;           // both sides are the same captures
  bool has_findings = false;      // rules were run for every run
  std::size_t tested = 0;         // lines that have a verdict
  /// By how much all kernels are slower, without the effect of the clock if that is known, and by
  /// how much the clock is. Both are shares.
  std::optional<double> shared, clock;
  // limits of the comparison that a reader must know, one line each
  std::vector<std::string> remarks;
};

/// Each side must have at least one run.
comparison compare_runs(std::span<run_digest const> base, std::span<run_digest const> fresh);

std::vector<std::string> remarks_on(comparison const& of, std::span<run_digest const> base,
                                    std::span<run_digest const> fresh);

}  // namespace gpuprof::host::compare
