// SPDX-License-Identifier: Apache-2.0
// Reads the steps of several captures, the ranks of a job, as one recording.
#pragma once

#include "base/result.hpp"
#include "whatif/read_steps.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::host::command {

struct steps_of_ranks {
  steps_of_capture read;
  std::vector<std::string> heading;
};

/// The steps of the first rank are chosen as for one capture; those of the others have the same
/// numbers, or are of the same time if there are not equally many. Returns an error that says which
/// rank cannot be replayed, and why.
result<steps_of_ranks> read_ranks(std::vector<std::string> const& paths,
                                  steps_question const& question);

}  // namespace gpuprof::host::command
