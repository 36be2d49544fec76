// SPDX-License-Identifier: Apache-2.0
// What the chains of cuda_cores.cu must have come to, computed on the host. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gpuprof::guest::peaks {

/// Of the chains of cuda_cores.cu.
enum class chain_kind { fp32, fp32_pairs, fp64, fp16, bf16, int32, special };

/// `bytes` is what lane and chain 0 to 255 left, after `steps` multiply-adds each. Empty when all
/// is right, else one line that says what is not.
std::string check_chains(chain_kind kind, std::span<std::byte const> bytes, std::uint32_t seed,
                         std::uint64_t steps);

}  // namespace gpuprof::guest::peaks
