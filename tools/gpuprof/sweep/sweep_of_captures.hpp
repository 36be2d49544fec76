// SPDX-License-Identifier: Apache-2.0
// Puts the points of several captures together, and says what does not fit.
#pragma once

#include "host/report/sweep_report.hpp"
#include "sweep/sweep_reading.hpp"

#include <span>
#include <string>
#include <variant>

namespace gpuprof::host::command {

/// Captures that say nothing to the question are named in the notes; a failure when all of them do.
std::variant<report::sweep, sweep_failure> sweep_of_captures(std::span<std::string const> paths,
                                                             sweep_question const& question,
                                                             std::string const& over);

}  // namespace gpuprof::host::command
