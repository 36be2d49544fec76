// SPDX-License-Identifier: Apache-2.0
// Nanoseconds, for tests that count time in numbers.
#pragma once

#include <cstdint>

namespace gpuprof::test {

inline constexpr std::uint64_t us = 1'000, ms = 1'000'000, second = 1'000'000'000;

}  // namespace gpuprof::test
