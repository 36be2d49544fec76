// SPDX-License-Identifier: Apache-2.0
// Reads the steps of several ranks that a replay goes through together.
#pragma once

#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"
#include "whatif/read_steps.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::command {

struct ranks_question {
  steps_question steps;
  std::vector<std::vector<time_stretch>> phases = {};  // by rank; empty: as in `steps`
  /// Digests of the captures, with names of `style`, if these were read already.
  std::vector<rank_digest> digests = {};
  kernel_name_style style = kernel_name_style::demangled;
};

struct steps_of_ranks {
  steps_of_capture read;
  std::vector<std::string> heading;  // empty if the digests were given
};

/// The steps of the first rank are chosen as for one capture; those of the others have the same
/// numbers, or are of the same time if there are not equally many. Returns an error that says which
/// rank cannot be replayed, and why.
result<steps_of_ranks> read_steps_of_ranks(capture_set set, ranks_question question);

}  // namespace gpuprof::host::command
