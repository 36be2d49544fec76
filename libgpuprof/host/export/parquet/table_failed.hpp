// SPDX-License-Identifier: Apache-2.0
// Ends the writing of a folder of tables: thrown where one cannot be written, caught by what writes
// all.
#pragma once

#include <string>

namespace gpuprof {

struct table_failed {
  std::string message;
};

}  // namespace gpuprof
