// SPDX-License-Identifier: Apache-2.0
// The lines of gpuprof roofline --by step.
#pragma once

#include "host/analysis/roofline.hpp"
#include "host/analysis/timeline/step_ranges.hpp"
#include "host/reading/roofline_reading.hpp"
#include "host/reading/trace_contents.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::command {

class step_lines {
 public:
  /// Finds the steps and makes `read` list ranges by step. Create it before `read` joins a walk;
  /// it must outlive that walk.
  step_lines(trace_contents& trace, roofline_reading& read);

  /// One row for each step that launched kernels, in order of time. A step lasts until the next one
  /// of its thread begins. `ranges` are those that were read.
  std::vector<roofline_row> rows(roofline const& roofs, std::span<range_work const> ranges) const;
  /// The steps after the warm-up; nothing if there is only one.
  std::optional<roofline_row> all_together(roofline const& roofs,
                                           std::span<range_work const> ranges) const;

 private:
  range_key line_of(std::uint32_t range) const;

  trace_contents& trace_;
  step_ranges steps_;
  std::vector<double> periods_ns_;   // by step
  std::vector<bool> is_of_warm_up_;  // by step
};

}  // namespace gpuprof::host::command
