// SPDX-License-Identifier: Apache-2.0
// Finds the captures that a user names: files, folders, patterns.
#pragma once

#include "base/result.hpp"

#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::command {

inline constexpr char capture_names_help[] =
    "Captures, made by gpuprof profile: files, folders, or patterns in quotes; several are taken "
    "as "
    "the ranks of a job";

/// A folder means the captures in it, a pattern ("run.rank*.gpuprof") the files that it matches,
/// "run" the file run.gpuprof. A file that is named twice counts once. A name without a file stays
/// as it is; opening it gives the error. Fails for a folder or pattern without captures.
result<std::vector<std::string>> named_captures(std::span<std::string const> names);

}  // namespace gpuprof::host::command
