// SPDX-License-Identifier: Apache-2.0
// Shows how the time of GPUs was spent: as bars, as a table of shares, as rows for programs.
#pragma once

#include "host/analysis/kernel_kind.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "text/table.hpp"

#include <cstdint>
#include <functional>
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

/// What the launching thread was seen to do in idle time of one bucket, by looks at threads.
struct idle_cause_line {
  time_bucket bucket{};
  std::string words;           // "runs Python", "waits for the GIL"
  std::string where, held_by;  // "train.py:61"; empty: not known, or of no meaning
  double looks = 0;
  double ns = 0;     // the share of these looks of the time of the bucket
  double share = 0;  // of the looks into this bucket
};

/// The kernels that do one kind of work. Bytes and the share of the roof are those of the kernels
/// of which they are known, if these are 80 % of the time; else empty.
struct kind_line {
  kernel_kind kind{};
  std::uint64_t launches = 0;
  double ns = 0, share = 0;  // of the time of all kernels
  std::optional<double> dram_bytes;
  std::optional<double> of_roof;  // mean by time, 0 to 1
};

enum class ledger_lines { gpus, ranges, steps, ranks, kinds };

struct ledger {
  std::vector<ledger_line> gpus;
  std::vector<ledger_line> ranges, steps;  // if there is one capture; the longest ranges first
  std::vector<ledger_line> ranks;          // if there are several captures
  std::vector<kind_line> kinds;            // if there is one capture; most time first
  std::vector<idle_cause_line> causes;     // if there is one capture; by bucket, most looks first
  std::size_t more_ranges = 0, more_steps = 0;  // numbers of ranges and steps not listed above
  std::uint32_t first_step = 0;                 // its number in the whole run
  double slow_beyond_ns = 0;                    // a step is slow if it takes longer
};

/// Buckets with a smaller share of the time are combined in one line, "other".
inline constexpr double least_ledger_share = 0.005;

/// Returns a line for each bucket with its time, its share and a bar. The shares add up to 100 %.
/// `beside` has a text for a bucket, which is put below its line, or an empty one.
std::vector<std::string> ledger_bars(bucket_times const& times, std::size_t width,
                                     std::function<std::string(time_bucket)> const& beside = {});

/// "943 ms: runs Python at train.py:61; 312 ms: sleeps": the greatest causes of a bucket, at most
/// three, with at least a tenth of it each; empty: not known.
std::string causes_of(ledger const& of, time_bucket bucket);

/// "Kernels by kind of work: moves only 41.2 %, product 30.0 %.": all kinds with 1 % or more;
/// empty without kernels.
std::string kinds_of(ledger const& of);

/// Returns two lines of headings, then one for each of `lines`. Buckets with enough time have a
/// column each if there is room; the last column has the sum of the others.
std::vector<std::string> ledger_shares(std::span<ledger_line const> lines, std::string const& title,
                                       std::size_t width);

/// Returns a line of headings, then one for each kind of work: time, share, launches, DRAM rate and
/// share of the roof, "-" where these are not known.
std::vector<std::string> kinds_table(ledger const& of);

/// Empty for `kinds`, which have lines of their own.
std::span<ledger_line const> lines_of(ledger const& of, ledger_lines which) noexcept;

/// All buckets of each line, in nanoseconds. Of kinds: what kind_line has.
text::table ledger_csv_table(ledger const& of, ledger_lines which);

}  // namespace gpuprof::host::report
