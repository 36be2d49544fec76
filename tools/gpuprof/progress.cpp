#include "progress.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace gpuprof {

progress_line::progress_line(std::string what, std::uint64_t total)
    : what_(std::move(what)),
      total_(std::max<std::uint64_t>(total, 1)),
      is_terminal_(isatty(STDERR_FILENO) == 1),
      started_(monotonic_ns()),
      next_(started_ + 1'000'000'000) {}

progress_line::~progress_line() {
  if (written_) std::fputs("\r\x1b[K", stderr);
}

void progress_line::advance(std::uint64_t by) {
  done_ += by;
  if (!is_terminal_) return;
  auto const now = monotonic_ns();
  if (now < next_) return;
  next_ = now + 200'000'000;
  written_ = true;
  auto const percent = std::min<std::uint64_t>(done_ * 100 / total_, 100);
  std::fprintf(stderr, "\rgpuprof: %s, %llu %%\x1b[K", what_.c_str(),
               static_cast<unsigned long long>(percent));
  std::fflush(stderr);
}

}  // namespace gpuprof
