// SPDX-License-Identifier: Apache-2.0
// Reads what a kernel left in memory, and says where it is wrong.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

namespace gpuprof::guest::peaks {

/// Zero beyond the end.
template <class T>
T read(std::span<std::byte const> bytes, std::size_t index) {
  T value{};
  if ((index + 1) * sizeof(T) <= bytes.size())
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <class To, class From>
To as_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline std::string mismatch(std::string const& where, double wanted, double found) {
  return "its result is wrong: " + where + " should be " + std::to_string(wanted) + " and is " +
         std::to_string(found);
}

}  // namespace gpuprof::guest::peaks
