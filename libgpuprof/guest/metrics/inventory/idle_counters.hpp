// SPDX-License-Identifier: Apache-2.0
// Finds counters of operations that a kernel cannot change, by its machine code. They need not be
// read.
#pragma once

#include "model/kernel_code.hpp"

#include <string_view>

namespace gpuprof::guest {

/// `metric` may have a suffix. Returns true only if it counts arithmetic or tensor core operations
/// and a kernel with this code has none of these. Half-precision instructions that only move
/// constants do not count as arithmetic, though the hardware counts them.
bool leaves_idle(kernel_code const& code, std::string_view metric) noexcept;

}  // namespace gpuprof::guest
