// SPDX-License-Identifier: Apache-2.0
// What the benchmarks that read CUPTI's records need around them.
#pragma once

#include "guest/live/live_sink.hpp"
#include "guest/live/live_totals.hpp"
#include "guest/recording/file_sink.hpp"
#include "support/fake_cupti.hpp"
#include "support/record_walk.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <unistd.h>

namespace gpuprof::test {
using namespace guest;

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

/// Gets the finished records, as in a profiled program. The file may be null.
struct receivers {
  receivers(capture::writer* file, live_totals& totals) : live({&totals}) {
    if (file != nullptr) all.also(written.emplace(*file));
    all.also(live);
  }
  receivers(receivers const&) = delete;

  live_sink live;
  std::optional<file_sink> written;
  record_sinks all;
};

}  // namespace gpuprof::test
