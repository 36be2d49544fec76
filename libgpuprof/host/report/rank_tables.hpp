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

/// What one rank did.
struct rank_line {
  std::string rank, host, gpus, capture;
  std::uint32_t process = 0;
  std::uint64_t kernels = 0;
  std::optional<std::uint64_t> launches;         // nothing: not counted
  std::size_t devices = 1;                       // that did something
  std::uint64_t busy_ns = 0;                     // of all of these
  std::uint64_t work_ns = 0, collective_ns = 0;  // kernels
  std::uint64_t window_ns = 0;                   // that was captured
};

text::table ranks_table(std::vector<rank_line> const& ranks);

/// A kernel or range as one rank ran it.
struct rank_part {
  std::size_t rank = 0;
  std::uint64_t count = 0, ns = 0;
  std::uint64_t work_ns = 0;  // of ranges: kernels launched inside, collectives left out
};

struct line_over_ranks {
  std::string name;
  std::string style;  // of ranges
  std::vector<rank_part> parts;
};

/// Greatest total time first. `labels`: of the ranks.
text::table rank_range_table(std::vector<line_over_ranks> lines,
                             std::span<std::string const> labels);
text::table rank_kernel_table(std::vector<line_over_ranks> lines,
                              std::span<std::string const> labels);
text::table rank_collective_table(std::vector<collective_row> const& rows,
                                  std::span<std::string const> labels);

}  // namespace gpuprof::host::report
