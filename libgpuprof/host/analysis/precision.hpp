// SPDX-License-Identifier: Apache-2.0
// The kinds of arithmetic that are told apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpuprof {

enum class precision : std::uint8_t {
  fp64,
  fp32,
  fp16,  // BF16 too: one instruction computes either
  fp8,
  tensor_fp64,
  tensor_tf32,
  tensor_fp16,
  tensor_bf16,
  tensor_fp8,
  tensor_fp6,
  tensor_fp4,
  tensor_int8,  // integer operations; no FLOP, but they count in totals as what the GPU computed
};
inline constexpr std::size_t precision_count = 12;

std::string_view name_of(precision p) noexcept;  // "tensor BF16"
std::string_view key_of(precision p) noexcept;   // "tensor_bf16"

}  // namespace gpuprof
