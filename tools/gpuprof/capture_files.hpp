// SPDX-License-Identifier: Apache-2.0
// The file a run is to write, checked before it.
#pragma once

#include "base/result.hpp"
#include "guest/options/settings.hpp"

#include <cstdint>
#include <string>

namespace gpuprof::host::command {

/// The pattern of --output, made independent of the current folder.
std::string absolute_output(std::string const& pattern);

/// Whether the capture can be written as far as can be said before the program runs.
result<void> check_output(guest::settings const&);

/// A moment that compares with the times of files written from now on.
std::uint64_t file_clock_ns() noexcept;

}  // namespace gpuprof::host::command
