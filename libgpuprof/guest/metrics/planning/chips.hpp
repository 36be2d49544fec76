// SPDX-License-Identifier: Apache-2.0
// Finds a chip by what the user or the driver calls it.
#pragma once

#include "base/result.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gpuprof::guest {

/// The chip of that name among `chips`, in whatever case it was written; else one line with the
/// nearest name and all names.
result<std::string> chip_named(std::string_view name, std::span<std::string const> chips);

/// The chip that GPUs of a compute capability have, for where CUPTI does not say. Several chips may
/// share one: then this is the largest of them. Empty: not known.
std::string_view chip_of_compute_capability(int major, int minor) noexcept;

}  // namespace gpuprof::guest
