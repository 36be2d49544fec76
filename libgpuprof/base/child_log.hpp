// SPDX-License-Identifier: Apache-2.0
// A line on stderr from a child of fork() in which nothing else of ours may run.
#pragma once

#include "base/log.hpp"

#include <string_view>

namespace gpuprof {

/// As log(), without its locks: other threads of the parent may have held them for ever.
void log_in_inert_child(log_level level, std::string_view message) noexcept;

}  // namespace gpuprof
