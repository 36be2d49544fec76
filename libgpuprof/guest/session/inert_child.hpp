// SPDX-License-Identifier: Apache-2.0
// The line that an inert child of fork() prints. Uses no heap memory and no locks.
#pragma once

#include <array>
#include <cstdio>
#include <unistd.h>

namespace gpuprof::guest {

class inert_child_line {
 public:
  inert_child_line() noexcept {
    std::snprintf(text_.data(), text_.size(),
                  "process %d is not profiled: it was forked after its parent had begun to use "
                  "CUPTI. Start it as a new program to profile it, in Python with "
                  "multiprocessing's \"spawn\"",
                  static_cast<int>(getpid()));
  }
  char const* text() const noexcept { return text_.data(); }

 private:
  std::array<char, 256> text_;
};

}  // namespace gpuprof::guest
