// SPDX-License-Identifier: Apache-2.0
// Describes extended payloads as compact JSON. Pure: bytes and schemas in, text out, whatever they
// hold.
#pragma once

#include "guest/nvtx/schemas.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gpuprof::guest {

struct payload_blob {
  std::uint64_t schema = 0;  // an id, or a predefined entry type
  std::span<std::byte const> bytes;
};

/// What the bytes cannot say by themselves. Both may be null: pointers and registered strings then
/// become null.
struct payload_surroundings {
  name_id domain{};
  /// Copies memory a payload points to; false when it cannot be read.
  bool (*read_memory)(std::uint64_t address, std::span<std::byte> into) = nullptr;
  /// The text behind an nvtxStringHandle_t.
  std::string (*registered_text)(std::uint64_t handle) = nullptr;
};

struct payload_description {
  std::string json;     // an object; an array when there are several payloads; "" for none
  std::string message;  // of an entry marked as the event's message
};

/// Bounds: some 4 KiB of text, 8 levels, 256 elements of an array; what lies beyond is left out and
/// "truncated" says so. Throws std::bad_alloc alone.
payload_description describe_payloads(std::span<payload_blob const> payloads,
                                      payload_schemas const& schemas,
                                      payload_surroundings const& around);

}  // namespace gpuprof::guest
