// SPDX-License-Identifier: Apache-2.0
// Reads memory of this process that may not be there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gpuprof {

/// False when not all of it can be read: an error where a load would fault. Linux 3.2 on; where the
/// system call is forbidden nothing can be read.
bool read_own_memory(std::uint64_t address, std::span<std::byte> into) noexcept;

/// The text at this address up to its end, cut at `max_bytes`; empty when it cannot be read. Where
/// the system call is forbidden it is read as any memory is.
std::string read_own_text(char const* text, std::size_t max_bytes);

}  // namespace gpuprof
