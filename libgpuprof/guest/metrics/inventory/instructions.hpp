// SPDX-License-Identifier: Apache-2.0
// Finds the classes of the instructions in machine code. Pure.
#pragma once

#include "model/kernel_code.hpp"

#include <cstdint>
#include <span>

namespace gpuprof::guest {

/// True for chips whose instructions are known and were checked against nvdisasm. `sm` is 90 for
/// sm_90 and sm_90a.
bool knows_instructions_of(std::uint32_t sm) noexcept;

struct stretch_of_code {
  instruction_set holds;
  bool has_calls = false;  // calls, or jumps that may leave the code
  fma_instructions fma{};
};

/// `code` must be for such a chip. An incomplete instruction at the end (less than 16 bytes) is
/// ignored. Half-precision multiply-adds that only move constants, as compilers use them, do not
/// count as arithmetic.
stretch_of_code instructions_in(std::uint32_t sm, std::span<std::uint8_t const> code) noexcept;

}  // namespace gpuprof::guest
