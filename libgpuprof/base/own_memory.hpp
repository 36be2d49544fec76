// SPDX-License-Identifier: Apache-2.0
// Reads memory of this process that may not be there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gpuprof {

/// False when not all of it can be read: an error where a load would fault. Linux 3.2 on; where the
/// system call is forbidden nothing can be read.
bool read_own_memory(std::uint64_t address, std::span<std::byte> into) noexcept;

/// True when all of it can be read at this moment. Takes 2 ns for what lies on the stack of this
/// thread, else a system call (0.1 us) for each page; that call is allowed everywhere.
bool can_read(void const* address, std::size_t bytes) noexcept;

/// The length of a text, `max_bytes` at most. Nothing when it cannot be read up to its end.
std::optional<std::size_t> readable_length(char const* text, std::size_t max_bytes) noexcept;

/// The text at this address up to its end, cut at `max_bytes`; empty when it cannot be read.
std::string read_own_text(char const* text, std::size_t max_bytes);

}  // namespace gpuprof
