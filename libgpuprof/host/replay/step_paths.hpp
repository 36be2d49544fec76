// SPDX-License-Identifier: Apache-2.0
// The critical path of the median step and of the slowest steps, by kernel, call and range.
#pragma once

#include "host/replay/critical_path.hpp"
#include "host/replay/sensitivity.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace gpuprof::host::replay {

/// All are means of a step. GPU work belongs to the step that launched it.
struct path_sum {
  double path_ns = 0;   // on the path
  double total_ns = 0;  // on the path or not; summed over streams and threads
  double count = 0;     // how many of them lie on the path
};

/// A kernel, copy or fill, a call, or CPU work whose innermost range has this name.
struct path_subject {
  subject_kind kind{};
  std::string name;  // empty: CPU work outside of ranges
  path_sum median, slowest;
};

struct path_of_group {
  std::size_t steps = 0;
  double length_ns = 0;
  std::array<path_sum, path_part_count> parts;  // their times on the path add up to the length
  double inferred_ns = 0;                       // as critical_path has it
  /// The path of the longest of these steps, from its begin to its end, at the times at which its
  /// elements were recorded. It has gaps if it goes through other steps in between.
  std::vector<path_stretch> longest;
};

struct step_paths {
  std::size_t steps = 0;          // from which these were chosen
  path_of_group median, slowest;  // one step; one of a hundred, at least one
  /// The greatest on the path of either first, then GPU work that takes long beside the path.
  std::vector<path_subject> subjects;
};

/// A step is as long as the part of the path that belongs to it, so all steps together are as long
/// as the path. Steps of which GPU work from before the first step hides a part are left out. There
/// may be none.
step_paths step_paths_of(step_edit const& edit, replayed_steps const& replayed, std::size_t count);

}  // namespace gpuprof::host::replay
