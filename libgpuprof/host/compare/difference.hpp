// SPDX-License-Identifier: Apache-2.0
// One line of a comparison: what it took before and after, and whether that is more than noise.
#pragma once

#include "host/compare/interval.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::compare {

enum class line_kind : std::uint8_t { step, gpu_time, range, kernel, bucket, finding };
std::string_view name_of(line_kind kind) noexcept;  // "step", "gpu", "range", ...

enum class match_kind : std::uint8_t {
  same,     // name, and of kernels geometry
  by_name,  // kernels: other geometry
  renamed,  // one went, one came in its place
  split,    // one went, several came in its place
  gone,     // in the base alone
  added,    // in the new runs alone
};
std::string_view name_of(match_kind how) noexcept;

enum class verdict : std::uint8_t {
  same,  // within noise, or too small to matter
  better,
  worse,
  undecided,   // runs of one program may differ by so much
  not_tested,  // too few repetitions, too little time, or there is nothing to compare with
};
std::string_view name_of(verdict v) noexcept;

/// Means over the runs of a side.
struct amount {
  double calls = 0;     // a step, or a run where there are no steps
  double call_ns = 0;   // of one
  double total_ns = 0;  // a step, or a run
  std::optional<double> of_roof;
  std::optional<double> dram_rate, flops;  // per second
  std::optional<double> window_share;      // of buckets and findings, which have nothing else
};

/// What is tested, so that a gate can do it again for the lines that it looks at.
struct tests {
  observations left;     // clock taken out
  observations besides;  // what all kernels share taken out as well; empty: not known
};

struct difference {
  line_kind kind{};
  match_kind how{};
  std::string name;       // of a range, a step, a kernel
  std::string base_name;  // renamed and split: what it was
  extent3 grid, block;    // kernels that match with their geometry
  std::optional<amount> base, fresh;
  double cost_ns = 0;              // more total_ns than before; negative: less
  std::optional<double> change;    // of call_ns, a share
  std::optional<double> by_clock;  // of the change
  std::optional<double> shared;    // of the rest: what all kernels have in common
  std::optional<double> by_roof;   // on other GPUs: time at equal roofs, a share
  interval left;                   // of what remains, logarithms
  interval besides;
  verdict is{};
  tests of;

  /// The test that the verdict is from.
  bool is_by_besides = false;
  interval const& deciding() const noexcept { return is_by_besides ? besides : left; }
};

/// Smaller differences are never called better or worse: nobody mends them.
inline constexpr double least_difference = 0.005;
/// What one run a side cannot tell from the difference of two runs of one program. Of kernels whose
/// clock is known well, and of kernels beside others of the same run; of all else that GPUs do.
inline constexpr double kernel_floor = 0.02, run_floor = 0.07;
/// Likewise of time in which the CPU works, a factor of 1.65: in 18 runs of one loop of launches on
/// a virtual machine it had a standard deviation of 14 % (and their kernels of 0.02 %), so that one
/// pair in a hundred differs by more.
inline constexpr double host_floor = 0.5;
/// Likewise of a share of the window: two points.
inline constexpr double share_floor = 0.02;
/// Of a figure that is sure to a factor of two alone nothing is said but a change beyond that.
inline constexpr double greatest_noise = 0.7;

/// Whether a line is better or worse beyond noise.
struct judgment {
  verdict is = verdict::not_tested;
  interval left, besides;
  bool is_by_besides = false;
};

/// Both tests together err with the probability `alpha`. A kernel that stands out from the others,
/// which became faster, while it did not become slower itself, is not called worse: they may depend
/// on the clock, and it may not.
judgment judge(tests const& of, double alpha);

}  // namespace gpuprof::host::compare
