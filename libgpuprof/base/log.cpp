// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include "base/fork_guard.hpp"
#include "base/no_cancellation.hpp"
#include "base/standard_error.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <memory>
#include <sys/uio.h>

namespace gpuprof {
namespace {

constexpr std::size_t max_parts = 14;

/// The logger has this level, too. This copy can be read without a logger.
std::atomic<log_level> lowest_written{log_level::info};

spdlog::level::level_enum to_spdlog(log_level level) noexcept {
  switch (level) {
    case log_level::debug:
      return spdlog::level::debug;
    case log_level::info:
      return spdlog::level::info;
    case log_level::warning:
      return spdlog::level::warn;
    case log_level::error:
      return spdlog::level::err;
    case log_level::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

iovec piece(std::string_view text) noexcept {
  return {const_cast<char*>(text.data()), text.size()};
}

using beginning = std::array<char, 40>;

/// Debug lines begin with the time.
std::string_view with_time(beginning& room, std::chrono::system_clock::time_point when) noexcept {
  fork_guard const whole;  // a child must not find the C library's time zone lock held
  auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch());
  std::time_t const seconds = ms.count() / 1000;
  tm local{};
  localtime_r(&seconds, &local);
  auto const length =
      std::snprintf(room.data(), room.size(), "[gpuprof %02d:%02d:%02d.%03d] ", local.tm_hour,
                    local.tm_min, local.tm_sec, static_cast<int>(ms.count() % 1000));
  return {room.data(), static_cast<std::size_t>(length)};
}

/// spdlog's own sinks write to descriptor 2 whatever it is, under a lock, and use heap memory.
/// Here, a line is one system call: lines of several threads and processes do not mix, and there is
/// no lock that a forked child could find held.
class standard_error_sink final : public spdlog::sinks::sink {
 public:
  explicit standard_error_sink(spdlog::logger const& of) noexcept : logger_(of) {}

  void log(spdlog::details::log_msg const& message) override {
    beginning room;
    std::array pieces{piece(logger_.should_log(spdlog::level::debug) ? with_time(room, message.time)
                                                                     : "[gpuprof] "),
                      piece({message.payload.data(), message.payload.size()}), piece("\n")};
    write_to_standard_error(pieces);
  }
  void flush() override {}
  void set_pattern(std::string const&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  spdlog::logger const& logger_;
};

// Never destroyed, because late callbacks may still log while the process ends. Not registered with
// spdlog's registry, whose destructor would run at exit.
spdlog::logger& logger() {
  static auto* const instance = [] {
    fork_guard const whole;  // a forked child must not find it half constructed
    auto made = std::make_unique<spdlog::logger>("gpuprof");
    made->sinks().push_back(std::make_shared<standard_error_sink>(*made));
    made->set_error_handler([](std::string const&) {});
    return made.release();
  }();
  return *instance;
}

/// Writes the parts directly. Used if there is no heap memory for a logger or for a long line.
void write_parts(std::initializer_list<std::string_view> parts) noexcept {
  std::array<iovec, max_parts + 2> pieces;
  std::size_t count = 0;
  pieces[count++] = piece("[gpuprof] ");
  for (auto const& part : parts)
    if (!part.empty() && count <= max_parts) pieces[count++] = piece(part);
  pieces[count++] = piece("\n");
  write_to_standard_error({pieces.data(), count});
}

}  // namespace

void log(log_level level, std::initializer_list<std::string_view> parts) noexcept {
  auto const saved_errno = errno;
  no_cancellation const here;
  try {
    auto& to = logger();
    if (to.should_log(to_spdlog(level)) && level != log_level::off) {
      spdlog::memory_buf_t line;
      for (auto const& part : parts) line.append(part.data(), part.data() + part.size());
      to.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
    }
  } catch (...) {
    if (level >= lowest_written.load(std::memory_order_relaxed) && level != log_level::off)
      write_parts(parts);
  }
  errno = saved_errno;
}

// Does not use spdlog: the logger may not exist yet, and an inert child must not take the locks for
// creating it.
void log_in_inert_child(log_level level, std::string_view message) noexcept {
  auto const saved_errno = errno;
  no_cancellation const here;
  if (level >= lowest_written.load(std::memory_order_relaxed)) write_parts({message});
  errno = saved_errno;
}

void set_log_level(log_level level) noexcept {
  lowest_written.store(level, std::memory_order_relaxed);
  try {
    logger().set_level(to_spdlog(level));
  } catch (...) {
  }
}

}  // namespace gpuprof
