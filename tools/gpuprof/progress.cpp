// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include "base/time.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <unistd.h>
#include <utility>

namespace gpuprof::host::command {
namespace {

std::atomic<terminal_line const*> seen{nullptr};  // the visible line on the terminal

bool is_seen(terminal_line const* line) noexcept {
  terminal_line const* nobody = nullptr;
  return seen.compare_exchange_strong(nobody, line) || nobody == line;
}

}  // namespace

terminal_line::terminal_line() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

terminal_line::~terminal_line() {
  if (!written_) return;
  std::fputs("\r\x1b[K", stderr);
  seen.store(nullptr);
}

void terminal_line::show(std::string const& text) {
  if (!is_terminal_ || !is_seen(this)) return;
  written_ = true;
  std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
  std::fflush(stderr);
}

std::string progress_text(std::uint64_t done, std::uint64_t total, std::uint64_t elapsed_ns) {
  auto const percent = std::min<std::uint64_t>(done * 100 / std::max<std::uint64_t>(total, 1), 100);
  auto text = std::to_string(percent) + " %";
  if (done == 0 || elapsed_ns == 0) return text;
  auto const seconds = static_cast<double>(elapsed_ns) / 1e9;
  auto const rate = static_cast<double>(done) / seconds;
  char more[96];
  std::snprintf(more, sizeof more, ", %.1f M rows/s", rate / 1e6);
  text += more;
  if (done >= total) return text;
  std::snprintf(more, sizeof more, ", %.0f s left",
                std::ceil(static_cast<double>(total - done) / rate));
  return text + more;
}

progress_line::progress_line(std::string what, std::uint64_t total)
    : what_(std::move(what)),
      total_(std::max<std::uint64_t>(total, 1)),
      begin_(monotonic_ns()),
      next_(begin_ + 1'000'000'000) {}

void progress_line::advance(std::uint64_t by) {
  done_ += by;
  if (!line_.is_there()) return;
  auto const now = monotonic_ns();
  if (now < next_) return;
  next_ = now + 200'000'000;
  line_.show("gpuprof: " + what_ + ", " + progress_text(done_, total_, now - begin_));
}

std::function<void(std::uint64_t)> progress_of(std::string what, std::uint64_t total) {
  auto const line = std::make_shared<progress_line>(std::move(what), total);
  return [line](std::uint64_t by) { line->advance(by); };
}

}  // namespace gpuprof::host::command
