// SPDX-License-Identifier: Apache-2.0
// What a comparison needs of one run, small beside its capture.
#pragma once

#include "host/analysis/roofline_row.hpp"
#include "model/records.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::compare {

// The durations of one kernel or range in order of time, as sums over a bounded number of blocks.

/// Fewer say nothing about their spread.
inline constexpr std::uint64_t least_repetitions = 5;

/// Blocks double in length whenever there are too many, so that memory does not grow with the run.
/// A single launch that was held up for long (another process, a page that was missing) would hide
/// what all others say: a value counts for no more than `clip_factor` times the 90th percentile of
/// the first ones. The total has all of it.
class duration_series {
 public:
  static constexpr std::size_t max_blocks = 128;
  static constexpr std::size_t first_values = 64;  // that say where to clip
  static constexpr double clip_factor = 3;

  void add(double ns);
  /// After the last one.
  void finish();

  std::uint64_t count() const noexcept { return count_; }
  double total() const noexcept { return total_; }
  double mean() const noexcept { return count_ > 0 ? total_ / static_cast<double>(count_) : 0; }
  /// Values that were clipped.
  std::uint64_t clipped() const noexcept { return clipped_; }
  /// Means of whole blocks, in order of time. The first value, which warms up, and what is left
  /// over at the end are in the totals alone.
  std::vector<double> const& blocks() const noexcept { return blocks_; }

 private:
  void put(double ns);
  void set_limit();

  std::vector<double> blocks_;  // before finish(): the first values; then sums; then means
  double total_ = 0, open_sum_ = 0;
  double limit_ = 0;  // 0: not known yet
  std::uint64_t count_ = 0, clipped_ = 0;
  std::uint32_t in_open_ = 0, block_length_ = 1;
};

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
