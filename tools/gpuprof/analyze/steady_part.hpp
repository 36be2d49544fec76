// SPDX-License-Identifier: Apache-2.0
// Finds the part of a run that its steps take, without the steps of warm-up.
#pragma once

#include "base/time.hpp"
#include "host/analysis/range_tree.hpp"
#include "host/analysis/timeline/step_ranges.hpp"
#include "host/report/advice_report.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gpuprof::host::command {

/// Steps of one thread, one after the other: from the begin of each to that of the next; the last
/// one is as long as its range.
std::vector<double> periods_of_thread(range_tree const& tree, std::span<std::uint32_t const> steps);

/// Libraries load, pools grow, algorithms are tried: the first steps are longer. Returns how many
/// of them take more than 1.5 times the median, at most half of all.
std::size_t steps_of_warm_up(std::span<double const> periods_ns);

struct steady_part {
  std::size_t steps = 0, warm_up = 0;
  time_stretch time;  // from the first step after the warm-up to the end of the last one
};

/// From the first steady step of any thread to the last. Nothing: no thread has three.
std::optional<steady_part> steady_part_of(range_tree const& tree, step_ranges const& steps);

/// The number of steps that begin before this moment.
std::size_t steps_before(range_tree const& tree, step_ranges const& steps, timestamp_ns moment);

}  // namespace gpuprof::host::command
