// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers of 16 bits and fewer, by looking through all there are: slow, and hard to
// get wrong.
#pragma once

#include <cstdint>

namespace gpuprof::replay {

enum class small_format { f16, bf16, e4m3, e3m2, e2m1 };

double value_of(small_format format, std::uint32_t code);

/// f16 and bf16 alone. The nearest number of the format; of two that are as near, the one whose
/// code is even.
std::uint32_t nearest_code(small_format format, long double exact);
double nearest(small_format format, long double exact);

}  // namespace gpuprof::replay
