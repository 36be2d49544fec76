// SPDX-License-Identifier: Apache-2.0
// Writes lines to stderr, each starting with "[gpuprof]". The library prints nothing else.
#pragma once

#include <atomic>
#include <initializer_list>
#include <string_view>

namespace gpuprof {

enum class log_level { debug, info, warning, error, off };

/// Any thread. Writes the parts, at most 14, as one line. Also works without heap memory. Lines
/// that cannot be written are dropped, see standard_error.hpp.
void log(log_level level, std::initializer_list<std::string_view> parts) noexcept;

template <class... Parts>
void log_debug(Parts const&... parts) noexcept {
  log(log_level::debug, {std::string_view(parts)...});
}
template <class... Parts>
void log_info(Parts const&... parts) noexcept {
  log(log_level::info, {std::string_view(parts)...});
}
template <class... Parts>
void log_warning(Parts const&... parts) noexcept {
  log(log_level::warning, {std::string_view(parts)...});
}
template <class... Parts>
void log_error(Parts const&... parts) noexcept {
  log(log_level::error, {std::string_view(parts)...});
}

/// Lines below this level are not written. Default: info.
void set_log_level(log_level level) noexcept;

/// Returns true once, for lines that must not repeat. Each place needs its own static flag.
inline bool first_time(std::atomic<bool>& flag) noexcept {
  return !flag.exchange(true, std::memory_order_relaxed);
}

// Writes a line to stderr from a forked child in which no other code of gpuprof may run.

/// Like log(), but without its locks: other threads of the parent may have held them at the fork.
void log_in_inert_child(log_level level, std::string_view message) noexcept;

}  // namespace gpuprof
