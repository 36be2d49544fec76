// SPDX-License-Identifier: Apache-2.0
// What a comparison needs of one run, small beside its capture.
#pragma once

#include "host/analysis/roofline_row.hpp"
#include "host/compare/duration_series.hpp"
#include "model/records.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::compare {

struct kernel_key {
  std::string name;  // demangled; copies, fills and whole graphs are among them, in brackets
  extent3 grid, block;
  friend auto operator<=>(kernel_key const&, kernel_key const&) = default;
};

struct kernel_line {
  duration_series durations;
  std::string range;        // innermost NVTX range of its last launch
  std::string predecessor;  // the kernel of another name that ran before that
  /// From counters and peaks, where the capture has them.
  std::optional<double> clock, clock_error;  // Hz
  std::optional<double> of_roof, dram_rate, flops;
  std::optional<double> dram_share;  // of the roof of DRAM
  bound_by bound;
};

struct range_line {
  duration_series durations;
  duration_series gpu;  // kernels launched inside an instance, added up
};

struct step_line {
  std::string name;
  std::uint64_t count = 0;
  range_line of;
};

struct run_digest {
  std::string path, program, command_line;
  std::optional<std::uint32_t> rank;  // in its job
  std::vector<std::string> gpus;      // names, one each
  std::vector<std::string> uuids;     // likewise
  std::uint64_t window_ns = 0;
  std::uint64_t kernel_ns = 0;  // of all lines of kernels
  bool has_counters = false;
  std::uint64_t lost = 0;            // records
  std::vector<std::string> missing;  // what was lost, a line each
  std::map<kernel_key, kernel_line> kernels;
  std::map<std::string, range_line> ranges;
  std::optional<step_line> step;
  /// The time ledger: bucket and ns; empty: there is none.
  std::map<std::string, double> buckets;
  /// Rule and share of the window; nothing: no rules were asked.
  std::optional<std::map<std::string, double>> findings;
};

/// The file that runs, without its folder; of an interpreter the script or module.
std::string program_of(run_digest const& run);

/// Why the sides should not be compared: they are of different programs. Empty: they may be.
std::string programs_differ(std::span<run_digest const> base, std::span<run_digest const> fresh);

}  // namespace gpuprof::host::compare
