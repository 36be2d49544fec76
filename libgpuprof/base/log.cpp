// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include "base/fork_guard.hpp"
#include "base/no_cancellation.hpp"
#include "base/standard_error.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <sys/uio.h>

namespace gpuprof {
namespace {

constexpr std::size_t max_parts = 14;

std::atomic<log_level> lowest_written{log_level::info};

using beginning = std::array<char, 40>;

/// Readers of debug lines want to know when.
std::string_view with_time(beginning& room) noexcept {
  fork_guard const whole;  // a child must not find the C library's lock on time zones held
  timespec moment{};
  clock_gettime(CLOCK_REALTIME, &moment);
  tm local{};
  localtime_r(&moment.tv_sec, &local);
  auto const length =
      std::snprintf(room.data(), room.size(), "[gpuprof %02d:%02d:%02d.%03d] ", local.tm_hour,
                    local.tm_min, local.tm_sec, static_cast<int>(moment.tv_nsec / 1'000'000));
  return {room.data(), static_cast<std::size_t>(length)};
}

iovec piece(std::string_view text) noexcept {
  return {const_cast<char*>(text.data()), text.size()};
}

}  // namespace

// One system call for a line: lines of several threads and processes do not mix, and there is no
// lock that a forked child could find held.
void log(log_level level, std::initializer_list<std::string_view> parts) noexcept {
  auto const lowest = lowest_written.load(std::memory_order_relaxed);
  if (level < lowest || level == log_level::off) return;
  auto const saved_errno = errno;
  no_cancellation const here;
  beginning room;
  std::array<iovec, max_parts + 2> pieces;
  std::size_t count = 0;
  pieces[count++] = piece(lowest == log_level::debug ? with_time(room) : "[gpuprof] ");
  for (auto const& part : parts)
    if (!part.empty() && count <= max_parts) pieces[count++] = piece(part);
  pieces[count++] = piece("\n");
  write_to_standard_error({pieces.data(), count});
  errno = saved_errno;
}

void set_log_level(log_level level) noexcept {
  lowest_written.store(level, std::memory_order_relaxed);
}

}  // namespace gpuprof
