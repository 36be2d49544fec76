// SPDX-License-Identifier: Apache-2.0
// Compares two sides of one or more runs each: what differs, by how much, and what is noise. Pure.
#pragma once

#include "host/compare/difference.hpp"
#include "host/compare/run_digest.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::compare {

/// Kernels that take less of the time of all, on either side, say nothing about what all share.
inline constexpr double least_share = 0.002;
/// That any line at all is called better or worse though nothing changed.
inline constexpr double error_rate = 0.02;

struct comparison {
  std::vector<difference> lines;  // by kind, then by what they cost
  std::string step;               // the range that repeats; empty: totals are of a run
  bool is_single = false;         // one run a side
  bool is_by_roof = false;        // the GPUs differ
  bool has_findings = false;      // rules were asked in every run
  std::size_t tested = 0;         // lines that have a verdict
  /// By how much all kernels together are slower, the clock taken out where it is known; shares.
  std::optional<double> shared, clock;
  std::vector<std::string> remarks;  // what to know before believing it, a line each
};

/// Either side has at least one run.
comparison compare_runs(std::span<run_digest const> base, std::span<run_digest const> fresh);

std::vector<std::string> remarks_on(comparison const& of, std::span<run_digest const> base,
                                    std::span<run_digest const> fresh);

}  // namespace gpuprof::host::compare
