// SPDX-License-Identifier: Apache-2.0
// Explains to the user why a process has recorded nothing.
#pragma once

#include "guest/nvtx/name_registry.hpp"
#include "guest/options/capture_plan.hpp"
#include "guest/options/settings.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// Returns one line: what was waited for, and which similar names were used. `names`: all names
/// that the program has used.
std::string why_nothing_was_recorded(settings const&, capture_plan const&,
                                     name_registry const& names);

/// Returns one line for a run whose filters excluded all of its kernels. `kernels`: their mangled
/// names, as far as they are known.
std::string why_no_kernel_was_selected(settings const&, std::uint64_t left_out,
                                       std::vector<std::string> const& kernels);

}  // namespace gpuprof::guest
