// SPDX-License-Identifier: Apache-2.0
// Describes extended payloads as compact JSON. Pure: the result depends only on bytes and schemas,
// which may hold anything.
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

/// Information that is not in the bytes. If a function is null, pointers or registered strings are
/// printed as null.
struct payload_surroundings {
  name_id domain{};
  /// Copies memory that a payload points to. Returns false if it cannot be read.
  bool (*read_memory)(std::uint64_t address, std::span<std::byte> into) = nullptr;
  /// Returns the text of an nvtxStringHandle_t.
  std::string (*registered_text)(std::uint64_t handle) = nullptr;
};

struct payload_description {
  std::string json;     // an object, or an array for several payloads; "" for none
  std::string message;  // text of an entry marked as the event's message
};

/// Limits: about 4 KiB of text, 8 levels, 256 elements of an array. The rest is left out and marked
/// as "truncated". Throws only std::bad_alloc.
payload_description describe_payloads(std::span<payload_blob const> payloads,
                                      payload_schemas const& schemas,
                                      payload_surroundings const& around);

}  // namespace gpuprof::guest
