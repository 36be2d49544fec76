// SPDX-License-Identifier: Apache-2.0
// Shows how the time of GPUs was spent: as bars, as a table of shares, as rows for programs.
#pragma once

#include "host/analysis/timeline/time_bucket.hpp"
#include "text/table.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::report {

/// How the time of a GPU, a range, a step or a rank was spent.
struct ledger_line {
  std::string label;                // "GPU 0", "forward", "step 3", "rank 2"
  bucket_times times;               // for a range, includes the ranges inside
  std::optional<bucket_times> own;  // for a range, without the ranges inside
  std::optional<std::uint32_t> device;
  std::string rank;      // empty if there is only one capture
  double period_ns = 0;  // for a step, time to the beginning of the next; 0: not known
  bool is_slow = false;  // for steps only

  /// A step has one length everywhere; other lines are as long as all their times.
  double length_ns() const noexcept { return period_ns > 0 ? period_ns : times.total(); }
};

enum class ledger_lines { gpus, ranges, steps, ranks };

struct ledger {
  std::vector<ledger_line> gpus;
  std::vector<ledger_line> ranges, steps;       // if there is one capture; the longest ranges first
  std::vector<ledger_line> ranks;               // if there are several captures
  std::size_t more_ranges = 0, more_steps = 0;  // numbers of ranges and steps not listed above
  std::uint32_t first_step = 0;                 // its number in the whole run
  double slow_beyond_ns = 0;                    // a step is slow if it takes longer
};

/// Buckets with a smaller share of the time are combined in one line, "other".
inline constexpr double least_ledger_share = 0.005;

/// Returns a line for each bucket with its time, its share and a bar. The shares add up to 100 %.
std::vector<std::string> ledger_bars(bucket_times const& times, std::size_t width);

/// Returns two lines of headings, then one for each of `lines`. Buckets with enough time have a
/// column each if there is room; the last column has the sum of the others.
std::vector<std::string> ledger_shares(std::span<ledger_line const> lines, std::string const& title,
                                       std::size_t width);

std::span<ledger_line const> lines_of(ledger const& of, ledger_lines which) noexcept;

/// All buckets of each line, in nanoseconds.
text::table ledger_csv_table(ledger const& of, ledger_lines which);

}  // namespace gpuprof::host::report
