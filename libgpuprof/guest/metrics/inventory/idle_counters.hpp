// SPDX-License-Identifier: Apache-2.0
// Which counters of operations a kernel cannot move, by its machine code: they need not be read.
#pragma once

#include "model/kernel_code.hpp"

#include <string_view>

namespace gpuprof::guest {

/// `metric`: with or without suffix. True only where it counts arithmetic or operations of the
/// tensor cores, and a kernel with this code has none of these. Constants that half-precision
/// instructions move are none, though hardware counts them.
bool leaves_idle(kernel_code const& code, std::string_view metric) noexcept;

}  // namespace gpuprof::guest
