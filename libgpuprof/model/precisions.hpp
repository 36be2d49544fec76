// SPDX-License-Identifier: Apache-2.0
// Names the kinds of arithmetic and tells which of them the machine code of a kernel can use.
#pragma once

#include "model/kernel_code.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gpuprof {

/// The kinds of arithmetic that are told apart.
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

/// Tensor cores and CUDA cores that compute one precision execute these instructions.
struct class_of_precision {
  instruction_class what{};
  precision of{};
};
std::span<class_of_precision const> classes_of_precisions() noexcept;

/// True if the code holds no instruction that computes in this precision. False if `code` is
/// nullptr or does not tell.
bool has_none_of(kernel_code const* code, precision p) noexcept;

}  // namespace gpuprof
