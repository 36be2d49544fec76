// SPDX-License-Identifier: Apache-2.0
// Reads memory of this process that may not be mapped, and of its child processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gpuprof {

/// Returns false if some of it cannot be read, without faulting. Needs Linux 3.2; if the system
/// call is forbidden, nothing can be read.
bool read_own_memory(std::uint64_t address, std::span<std::byte> into) noexcept;
/// The same of a process; 0: this one. A child process can be read unless the system forbids it
/// (Yama's ptrace_scope 2 and 3, another user).
bool read_memory_of(std::uint32_t process, std::uint64_t address,
                    std::span<std::byte> into) noexcept;

/// True if all of it can be read at this moment. Takes 2 ns for memory on this thread's stack, else
/// a system call (0.1 us) for each page; that call is always allowed.
bool can_read(void const* address, std::size_t bytes) noexcept;

/// Returns the length of a text, at most `max_bytes`; nothing if it cannot be read up to its end.
std::optional<std::size_t> readable_length(char const* text, std::size_t max_bytes) noexcept;

/// Returns the text at this address, cut at `max_bytes`; empty if it cannot be read up to its end.
std::string read_own_text(char const* text, std::size_t max_bytes);

}  // namespace gpuprof
