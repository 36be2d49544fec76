// SPDX-License-Identifier: Apache-2.0
// Reads both sides of a comparison, at the same time.
#pragma once

#include "base/result.hpp"
#include "host/compare/run_digest.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::command {

struct two_sides {
  std::vector<compare::run_digest> base, fresh;
};

/// Names as named_captures takes them. `step`: the range that repeats; empty: found.
result<two_sides> read_sides(std::vector<std::string> const& base,
                             std::vector<std::string> const& fresh, std::string const& step);

}  // namespace gpuprof::host::command
