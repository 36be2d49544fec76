// SPDX-License-Identifier: Apache-2.0
// Checks the output file of a run before the run.
#pragma once

#include "base/result.hpp"
#include "guest/options/settings.hpp"

#include <cstdint>
#include <string>

namespace gpuprof::host::command {

/// Returns the pattern of --output as an absolute path.
std::string absolute_output(std::string const& pattern);

/// Checks if the capture can be written, as far as that is known before the program runs.
result<void> check_output(guest::settings const&);

/// Returns a time that can be compared with the times of files written later.
std::uint64_t file_clock_ns() noexcept;

}  // namespace gpuprof::host::command
