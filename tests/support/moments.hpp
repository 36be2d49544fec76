// SPDX-License-Identifier: Apache-2.0
// Nanoseconds, for tests that count time in numbers.
#pragma once

#include "base/time.hpp"

#include <cstdint>

namespace gpuprof::test {

inline constexpr std::uint64_t us = 1'000, ms = ns_per_ms, second = ns_per_second;

}  // namespace gpuprof::test
