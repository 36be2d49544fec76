// SPDX-License-Identifier: Apache-2.0
// Checks of option values that CLI11 has no word for.
#pragma once

#include <algorithm>
#include <string>

namespace gpuprof {

/// A variable of the shell that is not set gives no word; so nothing would be asked for.
inline std::string not_empty(std::string const& value) {
  return value.empty() ? "is empty" : "";
}

/// It becomes the name of a folder, and a value of Hive's partitions.
inline std::string plain_name(std::string const& value) {
  auto const plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !value.empty() && std::all_of(value.begin(), value.end(), plain)
             ? ""
             : "takes letters, digits and ._- only";
}

}  // namespace gpuprof
