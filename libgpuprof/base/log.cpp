// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include "base/child_log.hpp"
#include "base/fork_guard.hpp"
#include "base/no_cancellation.hpp"
#include "base/process.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

namespace gpuprof {
namespace {

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

// Never destroyed: late callbacks may still log while the process is going down. Not registered
// with spdlog's registry, whose destructor would run at exit.
spdlog::logger& logger() {
  static auto* const instance = [] {
    auto* const made =
        new spdlog::logger("gpuprof", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("[gpuprof] %v");
    made->set_error_handler([](std::string const&) {});
    return made;
  }();
  return *instance;
}

}  // namespace

void log(log_level level, std::string_view message) noexcept {
  auto const saved_errno = errno;
  no_cancellation const here;
  // Writing may take long, and an inert child says nothing.
  std::optional<fork_guard> whole;
  if (!children_stay_inert()) whole.emplace();
  try {
    logger().log(to_spdlog(level), spdlog::string_view_t(message.data(), message.size()));
  } catch (...) {  // nowhere left to say it
  }
  errno = saved_errno;
}

void log_in_inert_child(log_level level, std::string_view message) noexcept {
  auto const saved_errno = errno;
  no_cancellation const here;
  try {
    if (!logger().should_log(to_spdlog(level))) return;
    auto const line = "[gpuprof] " + std::string(message) + "\n";
    (void)!write(STDERR_FILENO, line.data(), line.size());
  } catch (...) {  // nowhere left to say it
  }
  errno = saved_errno;
}

void set_log_level(log_level level) noexcept {
  try {
    // Who asks for debug lines wants to know when.
    logger().set_pattern(level == log_level::debug ? "[gpuprof %H:%M:%S.%e] %v" : "[gpuprof] %v");
    logger().set_level(to_spdlog(level));
  } catch (...) {
  }
}

}  // namespace gpuprof
