// SPDX-License-Identifier: Apache-2.0
// Reads the single values in an extended payload, never beyond the given bytes.
#pragma once

#include "base/utf8.hpp"
#include "guest/nvtx/schemas.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gpuprof::guest {

// Writes JSON numbers into a string.

void append_json(std::string& out, double number);  // writes null for NaN and infinity
void append_json(std::string& out, std::int64_t number);
void append_json(std::string& out, std::uint64_t number);
void append_hex(std::string& out, std::uint64_t number);  // writes "0x2a" with the quotes

/// True for the `char const*` types, in the payload or behind a pointer.
bool is_string(std::uint64_t type) noexcept;
/// True for a string whose characters are in the payload itself.
bool is_embedded_string(schema_entry const& entry) noexcept;
/// Returns the size of one character unit in bytes.
std::uint32_t unit_of_string(std::uint64_t type) noexcept;
/// Returns the bytes up to and including the first zero unit, or all bytes if there is none.
std::uint64_t length_to_zero(std::span<std::byte const> text, std::uint32_t unit) noexcept;
/// Returns at most `limit` bytes.
std::string string_to_utf8(std::uint64_t type, std::span<std::byte const> text, bool stop_at_zero,
                           std::size_t limit);

std::optional<std::uint64_t> read_little(std::span<std::byte const> from,
                                         std::uint64_t size) noexcept;
/// Reads an integer entry, sign-extended. Returns nothing if it is not an integer or is cut off.
std::optional<std::uint64_t> read_unsigned(std::uint64_t type,
                                           std::span<std::byte const> from) noexcept;

/// Returns "A", "A|B" for flags, or "" if no name matches.
std::string name_of_value(payload_schema const& enumeration, std::uint64_t value);

/// Appends a number, or null if the type is unknown or there are too few bytes.
void append_value(std::string& out, std::uint64_t type, std::span<std::byte const> from);

}  // namespace gpuprof::guest
