// SPDX-License-Identifier: Apache-2.0
// How many more files the process may open, found out without opening one.
#pragma once

namespace gpuprof {

/// True when the process may open at least `count` more files: so many numbers below RLIMIT_NOFILE
/// are not in use. `count` system calls where that is so; it gives up after 4096.
bool has_free_descriptors(unsigned count) noexcept;

/// With fewer free, what the capture can do without opens nothing, and closes what it has open:
/// the program needs the rest.
inline constexpr unsigned few_descriptors = 64;
inline bool descriptors_are_scarce() noexcept {
  return !has_free_descriptors(few_descriptors);
}

}  // namespace gpuprof
