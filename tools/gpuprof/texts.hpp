// SPDX-License-Identifier: Apache-2.0
// Small texts that several commands print.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::command {

inline std::string joined(std::vector<std::string> const& words, std::string_view between) {
  std::string text;
  for (auto const& word : words) text.append(text.empty() ? "" : between).append(word);
  return text;
}

/// "12.3%"
inline std::string percent_of(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", share * 100);
  return text;
}

}  // namespace gpuprof::host::command
