// SPDX-License-Identifier: Apache-2.0
// What the benchmarks that read CUPTI's records need around them.
#pragma once

#include "support/fake_cupti.hpp"
#include "support/record_walk.hpp"

#include <filesystem>
#include <string>
#include <unistd.h>

namespace gpuprof::test {

/// A path for a file of this process, in memory where that is possible.
inline std::string on_tmpfs() {
  std::string const folder =
      access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path().string();
  return folder + "/gpuprof_benchmark_" + std::to_string(getpid());
}

/// The pretended CUPTI, but its records are walked by the real one where there is any.
inline cupti_api table_with_walker(fake_cupti& cupti) {
  auto api = cupti.library.api;
  api.cuptiActivityGetNextRecord = real_walker() != nullptr ? real_walker() : &next_record_by_size;
  return api;
}

}  // namespace gpuprof::test
