// SPDX-License-Identifier: Apache-2.0
// Reads the single values an extended payload is made of, never beyond the bytes given.
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

void append_json(std::string& out, double number);  // null for NaN and infinity
void append_json(std::string& out, std::int64_t number);
void append_json(std::string& out, std::uint64_t number);
void append_hex(std::string& out, std::uint64_t number);  // "0x2a", quoted

/// Of the char const* kinds, in the payload or behind a pointer.
bool is_string(std::uint64_t type) noexcept;
/// A string whose characters lie in the payload itself.
bool is_embedded_string(schema_entry const& entry) noexcept;
/// Bytes of one character unit.
std::uint32_t unit_of_string(std::uint64_t type) noexcept;
/// Bytes up to and with the first zero unit; all when there is none.
std::uint64_t length_to_zero(std::span<std::byte const> text, std::uint32_t unit) noexcept;
/// At most `limit` bytes.
std::string string_to_utf8(std::uint64_t type, std::span<std::byte const> text, bool stop_at_zero,
                           std::size_t limit);

std::optional<std::uint64_t> read_little(std::span<std::byte const> from,
                                         std::uint64_t size) noexcept;
/// An integer entry, sign-extended; nothing when it is none, or cut off.
std::optional<std::uint64_t> read_unsigned(std::uint64_t type,
                                           std::span<std::byte const> from) noexcept;

/// "A", "A|B" for flags, "" when no name fits.
std::string name_of_value(payload_schema const& enumeration, std::uint64_t value);

/// A number, or null when the type is not known or the bytes are too few.
void append_value(std::string& out, std::uint64_t type, std::span<std::byte const> from);

}  // namespace gpuprof::guest
