// SPDX-License-Identifier: Apache-2.0
// Compares a text with the file of that name in tests/data/golden, and says where they part.
#pragma once

#include "support/catch.hpp"
#include "support/test_data.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace gpuprof::test {

inline std::string read_file(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// GPUPROF_UPDATE_GOLDEN=1 writes the files anew, to be read in review like code.
inline void check_golden(std::string const& name, std::string const& text) {
  auto const path = test_data("golden/" + name);
  if (std::getenv("GPUPROF_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
  }
  INFO("golden file " << path);
  CHECK(text == read_file(path));
}

}  // namespace gpuprof::test
