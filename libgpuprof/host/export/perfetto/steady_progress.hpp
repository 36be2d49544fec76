// SPDX-License-Identifier: Apache-2.0
// Tells an export's progress once in some hundred rows.
#pragma once

#include "host/export/export_job.hpp"

#include <cstdint>

namespace gpuprof::perfetto {

class steady_progress {
 public:
  explicit steady_progress(export_job& job) : job_(job) {}

  void advance() {
    if (++rows_ < step) return;
    job_.advance(rows_);
    rows_ = 0;
  }

 private:
  static constexpr std::uint64_t step = 512;
  export_job& job_;
  std::uint64_t rows_ = 0;
};

}  // namespace gpuprof::perfetto
