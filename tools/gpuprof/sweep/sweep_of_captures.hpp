// SPDX-License-Identifier: Apache-2.0
// Combines the points of several captures, and says what does not match.
#pragma once

#include "host/report/sweep_report.hpp"
#include "sweep/sweep_reading.hpp"

#include <span>
#include <string>
#include <variant>

namespace gpuprof::host::command {

/// The notes name captures that do not answer the question; it is a failure if none does.
std::variant<report::sweep, sweep_failure> sweep_of_captures(std::span<std::string const> paths,
                                                             sweep_question const& question,
                                                             std::string const& over);

}  // namespace gpuprof::host::command
