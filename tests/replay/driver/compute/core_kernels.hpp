// SPDX-License-Identifier: Apache-2.0
// What the CUDA-core kernels of libgpuprof/guest/peaks come to: chains of dependent operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gpuprof::replay {

bool is_core_kernel(std::string_view kernel) noexcept;

/// FLOP or op of one block in one iteration.
double core_work(std::string_view kernel);

/// What the lanes of a warp store after so many iterations, eight chains each.
std::vector<std::byte> chains_of(std::string_view kernel, std::uint32_t seed,
                                 std::uint64_t iterations);

}  // namespace gpuprof::replay
