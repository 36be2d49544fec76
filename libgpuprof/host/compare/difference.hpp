// SPDX-License-Identifier: Apache-2.0
// One line of a comparison: the time before and after, and whether the difference is more than
// noise.
#pragma once

#include "host/compare/interval.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::compare {

enum class line_kind : std::uint8_t {
  run,
  step,
  gpu_time,
  range,
  kernel,
  line,
  module,
  bucket,
  finding
};
std::string_view name_of(line_kind kind) noexcept;  // "run", "step", "gpu", "range", ...

enum class match_kind : std::uint8_t {
  same,     // same name, and for kernels same geometry
  by_name,  // kernels with another geometry
  renamed,  // one disappeared, one took its place
  split,    // one disappeared, several took its place
  gone,     // only in the base
  added,    // only in the new runs
};
std::string_view name_of(match_kind how) noexcept;

enum class verdict : std::uint8_t {
  same,  // within noise, or too small to matter
  better,
  worse,
  undecided,   // runs of one program may differ as much
  not_tested,  // too few repetitions, too little time, or nothing to compare with
};
std::string_view name_of(verdict v) noexcept;

/// Means over the runs of one side.
struct amount {
  double calls = 0;     // per step, or per run without steps
  double call_ns = 0;   // per call, without outliers; of buckets per step or run
  double total_ns = 0;  // per step or run
  std::optional<double> of_roof;
  std::optional<double> dram_rate, flops;  // per second
  std::optional<double> window_share;      // only for buckets and findings
  /// Time of a step or run without outliers.
  double usual_ns() const noexcept { return window_share ? call_ns : calls * call_ns; }
};

/// The tested values. A gate repeats the test for its lines.
struct tests {
  observations left;     // without the effect of the clock
  observations besides;  // also without the change common to all kernels; empty: not known
};

struct difference {
  line_kind kind{};
  match_kind how{};
  std::string name;       // of a range, step or kernel
  std::string base_name;  // renamed and split: the old name
  extent3 grid, block;    // only for kernels matched with their geometry
  std::optional<amount> base, fresh;
  double cost_ns = 0;              // increase of `usual_ns()`; negative: decrease
  std::optional<double> change;    // relative change of call_ns
  std::optional<double> by_clock;  // part of the change that is due to the clock
  std::optional<double> shared;    // part of the rest that all kernels have in common
  std::optional<double> by_roof;   // on other GPUs: relative time at equal roofs
  interval left;                   // the rest of the change, as a logarithm
  interval besides;
  verdict is{};
  tests of;

  /// True if the verdict comes from `besides` instead of `left`.
  bool is_by_besides = false;
  interval const& deciding() const noexcept { return is_by_besides ? besides : left; }
};

/// Smaller differences are never called better or worse, because they are not worth fixing.
inline constexpr double least_difference = 0.005;
/// With one run per side, smaller differences may be noise between two runs of one program. The
/// first is for kernels with a known clock and for kernels compared with others of the same run,
/// the second for all other GPU work.
inline constexpr double kernel_floor = 0.02, run_floor = 0.07;
/// The least floor of a kernel or copy, in nanoseconds: starting and ending take a part of short
/// ones that differs from run to run. Kernels of 1 to 4 us of one job differed by up to 0.1 us
/// between two H100s, one by 0.34 us.
inline constexpr double short_floor_ns = 200;
/// The same for times in which the CPU works, a factor of 1.65: 18 runs of a loop of launches on a
/// virtual machine had a standard deviation of 14 % (their kernels 0.02 %), so that one pair in a
/// hundred differs by more.
inline constexpr double host_floor = 0.5;
/// The same for shares of the window: two percentage points.
inline constexpr double share_floor = 0.02;
/// If the uncertainty is above this (about a factor of two), only a change beyond it is reported.
inline constexpr double greatest_noise = 0.7;

/// Says whether a line is better or worse beyond noise.
struct judgment {
  verdict is = verdict::not_tested;
  interval left, besides;
  bool is_by_besides = false;
};

/// Both tests together are wrong with the probability `alpha`. If a kernel did not become slower
/// and only stands out because the others became faster, it is not called worse: they may depend on
/// the clock while it does not.
judgment judge(tests const& of, double alpha);

}  // namespace gpuprof::host::compare
