// SPDX-License-Identifier: Apache-2.0
// The reports about the ranks of a job: ranks_sum, ranks_range_sum, ranks_kern_sum,
// ranks_collective_sum.
#pragma once

#include "host/analysis/ranks/collective_waits.hpp"
#include "text/table.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::report {

/// Totals of one rank.
struct rank_line {
  std::string rank, host, gpus, capture;
  std::uint32_t process = 0;
  std::uint64_t kernels = 0;
  std::optional<std::uint64_t> launches;         // empty: not counted
  std::size_t devices = 1;                       // number of GPUs with work
  std::uint64_t busy_ns = 0;                     // sum over these GPUs
  std::uint64_t work_ns = 0, collective_ns = 0;  // time of kernels
  std::uint64_t window_ns = 0;                   // time that was captured
};

text::table ranks_table(std::vector<rank_line> const& ranks);

/// A kernel or range on one rank.
struct rank_part {
  std::size_t rank = 0;
  std::uint64_t count = 0, ns = 0;
  std::uint64_t work_ns = 0;  // for ranges: kernels launched inside, without collectives
};

struct line_over_ranks {
  std::string name;
  std::string style;  // for ranges
  std::vector<rank_part> parts;
};

/// Lines are sorted by total time, the greatest first. `labels` name the ranks.
text::table rank_range_table(std::vector<line_over_ranks> lines,
                             std::span<std::string const> labels);
text::table rank_kernel_table(std::vector<line_over_ranks> lines,
                              std::span<std::string const> labels);
text::table rank_collective_table(std::vector<collective_row> const& rows,
                                  std::span<std::string const> labels);

}  // namespace gpuprof::host::report
