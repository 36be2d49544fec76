// SPDX-License-Identifier: Apache-2.0
// A consumer of Arrow streams in the least code: what other languages do with one.
#pragma once

#include <gpuprof/tables.h>

#include "support/catch.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::test {

/// A value as text, whatever its type.
inline std::string value_at(ArrowSchema const& type, ArrowArray const& column, std::int64_t row) {
  auto const load = [&](auto number) {
    std::memcpy(
        &number,
        static_cast<char const*>(column.buffers[1]) + static_cast<std::size_t>(row) * sizeof number,
        sizeof number);
    return number;
  };
  if (type.dictionary != nullptr) {
    auto const at = load(std::int32_t{});
    REQUIRE(at >= 0);
    REQUIRE(at < column.dictionary->length);
    auto const* const offsets = static_cast<std::int32_t const*>(column.dictionary->buffers[1]);
    return {static_cast<char const*>(column.dictionary->buffers[2]) + offsets[at],
            static_cast<std::size_t>(offsets[at + 1] - offsets[at])};
  }
  switch (type.format[0]) {
    case 'C':
      return std::to_string(load(std::uint8_t{}));
    case 'S':
      return std::to_string(load(std::uint16_t{}));
    case 'I':
      return std::to_string(load(std::uint32_t{}));
    case 'i':
      return std::to_string(load(std::int32_t{}));
    case 'L':
      return std::to_string(load(std::uint64_t{}));
    case 'l':
      return std::to_string(load(std::int64_t{}));
    case 'g':
      return "bits " + std::to_string(std::bit_cast<std::uint64_t>(load(0.0)));
    case 'b':
      return static_cast<unsigned char const*>(column.buffers[1])[row / 8] >> (row % 8) & 1 ? "1"
                                                                                            : "0";
  }
  FAIL("unknown type " << type.format);
  return {};
}

struct imported_table {
  int code = 0;
  std::string error;
  std::vector<std::string> names;
  std::vector<std::string> formats;
  std::vector<std::map<std::string, std::string>> metadata;
  std::vector<std::vector<std::string>> rows;
  std::size_t arrays = 0;

  /// All values of a named column.
  std::vector<std::string> column(std::string_view name) const {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == name)
        for (auto const& row : rows) values.push_back(row[i]);
    return values;
  }
};

inline std::map<std::string, std::string> metadata_of(char const* at) {
  std::map<std::string, std::string> found;
  if (at == nullptr) return found;
  auto const number = [&at] {
    std::int32_t value = 0;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  };
  auto const text = [&] {
    auto const length = static_cast<std::size_t>(number());
    std::string value(at, length);
    at += length;
    return value;
  };
  for (auto left = number(); left > 0; --left) {
    auto key = text();
    found[std::move(key)] = text();
  }
  return found;
}

/// Reads the stream to its end, or to its first error, and releases all of it.
inline imported_table imported(ArrowArrayStream& stream) {
  imported_table table;
  auto const failed = [&](int code) {
    if (code == 0) return false;
    table.code = code;
    table.error = stream.get_last_error(&stream);
    return true;
  };
  ArrowSchema schema{};
  if (failed(stream.get_schema(&stream, &schema))) {
    stream.release(&stream);
    return table;
  }
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    table.names.emplace_back(schema.children[i]->name);
    table.formats.emplace_back(schema.children[i]->format);
    table.metadata.push_back(metadata_of(schema.children[i]->metadata));
  }
  ArrowArray array{};
  while (!failed(stream.get_next(&stream, &array)) && array.release != nullptr) {
    ++table.arrays;
    REQUIRE(array.n_children == schema.n_children);
    for (std::int64_t row = 0; row < array.length; ++row) {
      std::vector<std::string> values;
      for (std::int64_t i = 0; i < array.n_children; ++i)
        values.push_back(value_at(*schema.children[i], *array.children[i], row));
      table.rows.push_back(std::move(values));
    }
    array.release(&array);
  }
  schema.release(&schema);
  stream.release(&stream);
  return table;
}

inline imported_table imported(std::string const& path, std::string const& table) {
  ArrowArrayStream stream{};
  gpuprof_open_table(path.c_str(), table.c_str(), &stream);
  return imported(stream);
}

}  // namespace gpuprof::test
