// SPDX-License-Identifier: Apache-2.0
// Counts what this test program allocates, so that a test can say "nothing".
#pragma once

#include <cstdint>

namespace gpuprof::test {

std::uint64_t allocations() noexcept;

}  // namespace gpuprof::test
