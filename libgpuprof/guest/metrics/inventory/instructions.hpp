// SPDX-License-Identifier: Apache-2.0
// Tells the classes of the instructions in a stretch of machine code. Pure.
#pragma once

#include "model/kernel_code.hpp"

#include <cstdint>
#include <span>

namespace gpuprof::guest {

/// Chips whose instructions are known, as 90 for sm_90 and sm_90a: checked against nvdisasm.
bool knows_instructions_of(std::uint32_t sm) noexcept;

struct stretch_of_code {
  instruction_set holds;
  bool has_calls = false;  // or jumps that may leave it
  fma_instructions fma{};
};

/// `code`: of such a chip; what is left over after whole instructions of 16 bytes is not looked at.
/// Constants moved by a half-precision multiply-add, as compilers do, are no arithmetic.
stretch_of_code instructions_in(std::uint32_t sm, std::span<std::uint8_t const> code) noexcept;

}  // namespace gpuprof::guest
