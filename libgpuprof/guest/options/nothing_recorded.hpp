// SPDX-License-Identifier: Apache-2.0
// Tells a user whose process has recorded nothing why.
#pragma once

#include "guest/nvtx/name_registry.hpp"
#include "guest/options/capture_plan.hpp"
#include "guest/options/settings.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// One line: what never came, and what of its kind did. `names`: what the program has named.
std::string why_nothing_was_recorded(settings const&, capture_plan const&,
                                     name_registry const& names);

/// One line for a run whose filters left out each of so many kernels; `kernels`: mangled, as far as
/// they are known.
std::string why_no_kernel_was_selected(settings const&, std::uint64_t left_out,
                                       std::vector<std::string> const& kernels);

}  // namespace gpuprof::guest
