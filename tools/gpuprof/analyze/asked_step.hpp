// SPDX-License-Identifier: Apache-2.0
// Reads what --step asks for: the name of the steps, one of them, or both.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::host::command {

inline constexpr char const* step_help =
    "NAME: the NVTX range that is a step. Default: one that repeats. slowest or a number, also "
    "behind NAME/: only that step; the slowest is none of the warm-up";

struct asked_step {
  std::string name = {};                   // empty: found automatically
  std::optional<std::size_t> number = {};  // counted from 0 in order of start
  bool is_slowest = false;

  bool is_one() const noexcept { return is_slowest || number; }
};

/// Takes "NAME", "slowest", "55", "NAME/slowest" and "NAME/55".
asked_step parse_asked_step(std::string_view text);

struct found_step {
  std::size_t number = 0, count = 0, warm_up = 0;
  std::string name;
  time_stretch time;     // to the beginning of the next step of its thread
  double period_ns = 0;  // without the time of the profiler
};

/// Returns an error if there is no such step. `asked` must be of one step.
result<found_step> find_step(trace_contents& trace, asked_step const& asked);

}  // namespace gpuprof::host::command
