// SPDX-License-Identifier: Apache-2.0
// Words that users of nsys, ncu and torch.profiler try here, and what gpuprof has in their place.
#pragma once

#include <string>
#include <string_view>

namespace gpuprof::host::command {

/// For an option of `gpuprof profile`, without dashes: "backtrace". Empty if nothing is known.
std::string_view in_place_of_option(std::string_view name);

/// For a command: "timeline". Empty if nothing is known.
std::string_view in_place_of_command(std::string_view name);

/// For a value of an option, such as "python" of "trace", or a list with that value. Empty if
/// nothing is known.
std::string in_place_of_values(std::string_view option, std::string_view values);

/// For a report of `gpuprof stats`: "memory". Empty if nothing is known.
std::string_view in_place_of_report(std::string_view name);

}  // namespace gpuprof::host::command
