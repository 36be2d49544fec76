// SPDX-License-Identifier: Apache-2.0
// Finds the source line of an instruction in the location table of a CPython code object.
#pragma once

#include <cstdint>
#include <span>

namespace gpuprof::guest {

/// `table`: co_linetable of CPython 3.11 and newer (PEP 626; Objects/locations.md in its source).
/// `instruction`: offset of the instruction in bytes. Returns `first_line` if the table ends before
/// the instruction, is damaged, or gives it no line.
std::uint32_t line_of_instruction(std::span<std::uint8_t const> table, std::uint32_t first_line,
                                  std::int64_t instruction) noexcept;

}  // namespace gpuprof::guest
