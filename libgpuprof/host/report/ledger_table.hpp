// SPDX-License-Identifier: Apache-2.0
// What the time of GPUs was spent on: as bars, as a table of shares, as rows for programs.
#pragma once

#include "host/analysis/timeline/time_bucket.hpp"
#include "text/table.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::report {

/// What the time of a GPU, a range, a step or a rank was spent on.
struct ledger_line {
  std::string label;                // "GPU 0", "forward", "step 3", "rank 2"
  bucket_times times;               // of ranges: with those inside
  std::optional<bucket_times> own;  // of ranges: without them
  std::optional<std::uint32_t> device;
  std::string rank;      // of several captures; else empty
  double period_ns = 0;  // of steps, to the beginning of the next; 0: not known
  bool is_slow = false;  // of steps
};

enum class ledger_lines { gpus, ranges, steps, ranks };

struct ledger {
  std::vector<ledger_line> gpus;
  std::vector<ledger_line> ranges, steps;       // of one capture; the longest ranges first
  std::vector<ledger_line> ranks;               // of several captures
  std::size_t more_ranges = 0, more_steps = 0;  // that are not among these
  double slow_beyond_ns = 0;                    // steps that are slow take longer
};

/// Buckets with less of the time are one line, "other".
inline constexpr double least_ledger_share = 0.005;

/// A line for each bucket with its time, its share and a bar; they add up to 100 %.
std::vector<std::string> ledger_bars(bucket_times const& times, std::size_t width);

/// A line for each of `lines` under two of headings, a column for each bucket that matters and
/// finds room; the others are added up in the last one.
std::vector<std::string> ledger_shares(std::span<ledger_line const> lines, std::string const& title,
                                       std::size_t width);

std::span<ledger_line const> lines_of(ledger const& of, ledger_lines which) noexcept;

/// All buckets of each line, in nanoseconds.
text::table ledger_csv_table(ledger const& of, ledger_lines which);

}  // namespace gpuprof::host::report
