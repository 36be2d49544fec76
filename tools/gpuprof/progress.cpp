// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace gpuprof {

terminal_line::terminal_line() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

terminal_line::~terminal_line() {
  if (written_) std::fputs("\r\x1b[K", stderr);
}

void terminal_line::show(std::string const& text) {
  if (!is_terminal_) return;
  written_ = true;
  std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
  std::fflush(stderr);
}

progress_line::progress_line(std::string what, std::uint64_t total)
    : what_(std::move(what)),
      total_(std::max<std::uint64_t>(total, 1)),
      next_(monotonic_ns() + 1'000'000'000) {}

void progress_line::advance(std::uint64_t by) {
  done_ += by;
  if (!line_.is_there()) return;
  auto const now = monotonic_ns();
  if (now < next_) return;
  next_ = now + 200'000'000;
  auto const percent = std::min<std::uint64_t>(done_ * 100 / total_, 100);
  line_.show("gpuprof: " + what_ + ", " + std::to_string(percent) + " %");
}

}  // namespace gpuprof
