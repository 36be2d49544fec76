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

/// Takes the steps of one thread in order. Returns the time from the begin of each step to the
/// begin of the next one; for the last step, the time of its range.
std::vector<double> periods_of_thread(range_tree const& tree, std::span<std::uint32_t const> steps);

/// The first steps are longer, because libraries are loaded, pools grow and algorithms are tried.
/// Returns how many of them take more than 1.5 times the median, at most half of all.
std::size_t steps_of_warm_up(std::span<double const> periods_ns);

struct steady_part {
  std::size_t steps = 0, warm_up = 0;
  time_stretch time;  // from the first step after the warm-up to the end of the last one
};

/// Returns the time from the first steady step of any thread to the last one, or nothing if no
/// thread has three steady steps.
std::optional<steady_part> steady_part_of(range_tree const& tree, step_ranges const& steps);

/// The number of steps that begin before this moment.
std::size_t steps_before(range_tree const& tree, step_ranges const& steps, timestamp_ns moment);

}  // namespace gpuprof::host::command
