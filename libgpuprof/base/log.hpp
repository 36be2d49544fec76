// SPDX-License-Identifier: Apache-2.0
// Lines on stderr, each starting with "[gpuprof]": the only thing the library ever prints.
#pragma once

#include <atomic>
#include <initializer_list>
#include <string_view>

namespace gpuprof {

enum class log_level { debug, info, warning, error, off };

/// Any thread. Writes the parts as one line; at most 14 of them. Also works when there is no
/// memory of the heap, so that it can say so. What cannot be written is dropped, see
/// standard_error.hpp.
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

/// True once: for lines that must not repeat. Give each place its own static flag.
inline bool first_time(std::atomic<bool>& flag) noexcept {
  return !flag.exchange(true, std::memory_order_relaxed);
}

// A line on stderr from a child of fork() in which nothing else of ours may run.

/// As log(), without its locks: other threads of the parent may have held them for ever.
void log_in_inert_child(log_level level, std::string_view message) noexcept;

}  // namespace gpuprof
