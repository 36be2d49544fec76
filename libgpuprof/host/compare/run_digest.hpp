// SPDX-License-Identifier: Apache-2.0
// The data of one run that a comparison needs; much smaller than its capture.
#pragma once

#include "host/analysis/inferred_times.hpp"
#include "host/analysis/roofline_row.hpp"
#include "model/records.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::compare {

// Stores the durations of one kernel or range in order of time, as sums over a limited number of
// blocks.

/// Fewer repetitions say nothing about their spread.
inline constexpr std::uint64_t least_repetitions = 5;

/// When there are too many blocks, their length doubles, so that memory does not grow with the run.
/// A single delayed launch (another process, a page fault) would hide all others, so a value is
/// clipped to `clip_factor` times the 90th percentile of the first ones. The total is not clipped.
class duration_series {
 public:
  static constexpr std::size_t max_blocks = 128;
  static constexpr std::size_t first_values = 64;  // used to set the clipping limit
  static constexpr double clip_factor = 3;

  void add(double ns);
  /// A value that was measured before: it counts in the total, but says nothing about the spread.
  void add_again(double ns) noexcept {
    ++count_;
    total_ += ns;
  }
  /// What the total owes to times that were taken from other launches.
  void owe(inferred_time const& owed) noexcept { owed_ = owed; }
  /// Call after the last value.
  void finish();

  std::uint64_t count() const noexcept { return count_; }
  double total() const noexcept { return total_; }
  double mean() const noexcept { return count_ > 0 ? total_ / static_cast<double>(count_) : 0; }
  inferred_time const& owed() const noexcept { return owed_; }
  /// Number of clipped values.
  std::uint64_t clipped() const noexcept { return clipped_; }
  /// Means of whole blocks, in order of time. The first value (warm-up) and the rest at the end
  /// only count in the totals.
  std::vector<double> const& blocks() const noexcept { return blocks_; }

 private:
  void put(double ns);
  void set_limit();

  std::vector<double> blocks_;  // before finish(): the first values, later sums; after it: means
  double total_ = 0, open_sum_ = 0;
  double limit_ = 0;  // 0: not known yet
  std::uint64_t count_ = 0, clipped_ = 0;
  std::uint32_t in_open_ = 0, block_length_ = 1;
  inferred_time owed_;
};

struct kernel_key {
  std::string name;  // demangled; also copies, fills and whole graphs, in brackets
  extent3 grid, block;
  friend auto operator<=>(kernel_key const&, kernel_key const&) = default;
};

/// The name of the sum of all buckets of idle time; their names begin with it.
inline constexpr std::string_view idle_sum = "idle";

struct kernel_line {
  duration_series durations;
  std::string range;          // innermost NVTX range of its last launch
  std::string predecessor;    // last kernel of another name before that launch
  bool is_host_copy = false;  // between host and GPU: by a bus that others share, or by the CPU
  std::optional<double> clock, clock_error;  // Hz
  std::optional<double> of_roof, dram_rate, flops;
  std::optional<double> dram_share;  // share of the DRAM roof
  bound_by bound;
};

struct range_line {
  duration_series durations;
  duration_series gpu;  // total time of the kernels launched inside an instance
};

struct step_line {
  std::string name;
  std::uint64_t count = 0;
  range_line of;
};

struct run_digest {
  std::string path, program, command_line;
  std::optional<std::uint32_t> rank;  // rank in its job
  std::vector<std::string> gpus;      // names, one per GPU
  std::vector<std::string> uuids;     // one per GPU
  std::uint64_t window_ns = 0;
  std::uint64_t kernel_ns = 0;  // sum over all kernel lines
  bool has_counters = false;
  std::uint64_t lost = 0;            // number of lost records
  std::vector<std::string> missing;  // what was lost, a line each
  std::map<kernel_key, kernel_line> kernels;
  std::map<std::string, range_line> ranges;
  /// GPU time of lines of Python or modules of PyTorch, if asked for: in each step, or of each
  /// launch if there are no steps.
  std::map<std::string, duration_series> source_lines;
  bool are_modules = false;
  std::optional<step_line> step;
  /// The time ledger: ns by bucket. Empty: no ledger.
  std::map<std::string, double> buckets;
  /// The time that buckets and findings are about, and the steps in it, without warm-up. 0 steps:
  /// the whole run; 0 ns: window_ns.
  double ledger_ns = 0;
  std::uint64_t ledger_steps = 0;
  /// Share of that time by rule. Nothing: rules were not run.
  std::optional<std::map<std::string, double>> findings;
};

/// Returns the file name of the program without its folder; for an interpreter, that of the script
/// or module.
std::string program_of(run_digest const& run);

/// Returns why the sides should not be compared: they ran different programs. Empty: they can be
/// compared.
std::string programs_differ(std::span<run_digest const> base, std::span<run_digest const> fresh);

}  // namespace gpuprof::host::compare
