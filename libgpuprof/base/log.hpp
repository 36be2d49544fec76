// SPDX-License-Identifier: Apache-2.0
// Lines on stderr, each starting with "[gpuprof]": the only thing the library ever prints.
#pragma once

#include <atomic>
#include <string_view>

namespace gpuprof {

enum class log_level { debug, info, warning, error, off };

/// Any thread. Never throws; what cannot be written is dropped.
void log(log_level level, std::string_view message) noexcept;

inline void log_debug(std::string_view m) noexcept {
  log(log_level::debug, m);
}
inline void log_info(std::string_view m) noexcept {
  log(log_level::info, m);
}
inline void log_warning(std::string_view m) noexcept {
  log(log_level::warning, m);
}
inline void log_error(std::string_view m) noexcept {
  log(log_level::error, m);
}

/// Lines below this level are not written. Default: info.
void set_log_level(log_level level) noexcept;

/// True once: for lines that must not repeat. Give each place its own static flag.
inline bool first_time(std::atomic<bool>& flag) noexcept {
  return !flag.exchange(true, std::memory_order_relaxed);
}

}  // namespace gpuprof
