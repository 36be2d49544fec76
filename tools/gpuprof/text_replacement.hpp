// SPDX-License-Identifier: Apache-2.0
// Replaces a piece of text by another wherever it stands.
#pragma once

#include <string>

namespace gpuprof {

inline std::string replaced(std::string text, std::string const& what, std::string const& by) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace gpuprof
