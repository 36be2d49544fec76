// SPDX-License-Identifier: Apache-2.0
// Makes schemas and payloads out of arbitrary bytes, and checks what the description must always
// be.
#pragma once

#include "guest/nvtx/payload.hpp"

#include <cstring>
#include <memory>
#include <stdexcept>

namespace gpuprof::test {
using namespace guest;

/// Reads values off the front; zero once the input has ended.
class input_bytes {
 public:
  explicit input_bytes(std::span<std::byte const> bytes) : bytes_(bytes) {}
  template <class T>
  T take() {
    T value{};
    auto const size = std::min(sizeof value, bytes_.size());
    std::memcpy(&value, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return value;
  }
  std::span<std::byte const> rest() const { return bytes_; }

 private:
  std::span<std::byte const> bytes_;
};

inline bool quotes_and_brackets_match(std::string_view json) {
  std::string open;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    auto const c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
    }
  }
  return open.empty() && !in_text;
}

/// Throws when the description is too long or no JSON. Addresses are offsets into the input.
inline void describe_fuzzed(std::span<std::byte const> bytes) {
  static std::span<std::byte const> memory;
  input_bytes input(bytes);
  auto const schemas = std::make_unique<payload_schemas>();
  auto const schema_count = input.take<std::uint8_t>() % 5;
  for (int s = 0; s < schema_count; ++s) {
    payload_schema schema;
    auto const shape = input.take<std::uint8_t>();
    schema.what = static_cast<payload_schema::kind>(shape % 3);
    schema.pack_align = shape >> 4;
    if ((shape & 8) != 0) schema.id = (1u << 24) + input.take<std::uint8_t>() % 4;
    if ((shape & 4) != 0) schema.size = input.take<std::uint16_t>();
    auto const entries = input.take<std::uint8_t>() % 16;
    for (int e = 0; e < entries; ++e) {
      schema_entry entry;
      entry.flags = input.take<std::uint16_t>();
      auto const type = input.take<std::uint8_t>();
      entry.type = type < 128   ? type
                   : type < 192 ? (1u << 24) + type % 4
                                : (std::uint64_t{1} << 32) + type % 5;
      auto const extra = input.take<std::uint8_t>();
      entry.detail = (extra & 1) != 0 ? input.take<std::uint64_t>() : extra >> 4;
      entry.offset = (extra & 2) != 0 ? input.take<std::uint64_t>() : 0;
      if ((extra & 4) != 0) entry.name = std::string(extra >> 3, static_cast<char>(type));
      if (schema.what == payload_schema::kind::enumeration) {
        schema.values.push_back({entry.name, entry.detail, (extra & 8) != 0});
      } else {
        schema.entries.push_back(entry);
      }
    }
    schemas->add(schema);
  }
  auto const chosen = input.take<std::uint8_t>();
  auto const id = chosen < 128 ? (std::uint64_t{1} << 32) + chosen % 4 : chosen;
  memory = input.rest();
  payload_surroundings const around{
      {},
      [](std::uint64_t address, std::span<std::byte> into) {
        if (address >= memory.size() || into.size() > memory.size() - address) return false;
        std::memcpy(into.data(), memory.data() + address, into.size());
        return true;
      },
      [](std::uint64_t handle) { return std::to_string(handle); }};
  payload_blob const blobs[] = {{id, input.rest()}, {1023, input.rest()}};
  auto const found = describe_payloads({blobs, (chosen & 1) != 0 ? 2u : 1u}, *schemas, around);
  if (found.json.size() > 40'000) throw std::runtime_error("description too long");
  if (!quotes_and_brackets_match(found.json)) throw std::runtime_error("no JSON: " + found.json);
}

}  // namespace gpuprof::test
