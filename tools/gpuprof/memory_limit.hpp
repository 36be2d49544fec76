// SPDX-License-Identifier: Apache-2.0
// Limits the memory for reading a capture, because a small file may claim any number of rows.
#pragma once

#include <new>
#include <string>
#include <sys/resource.h>

namespace gpuprof::host::command {

inline constexpr double default_memory_gib = 1;
inline constexpr char memory_limit_help[] =
    "GIB: stop, and say so, rather than take more memory than this";

/// While it lives, the process can get only this much memory beyond its current size; then new
/// throws std::bad_alloc. Children inherit the limit.
class memory_limit {
 public:
  explicit memory_limit(double gib) noexcept;
  ~memory_limit();
  memory_limit(memory_limit const&) = delete;
  memory_limit& operator=(memory_limit const&) = delete;

 private:
  rlimit before_{};
};

/// Returns "app.gpuprof takes more than 1 GiB of memory to read", with what is lost and what to do.
std::string needs_more_memory(std::string const& file, double gib);

/// Returns the result of `act`. If it needs more memory, returns the result of `fail`, which gets
/// the message.
template <class Act, class Fail>
int within_memory(double gib, std::string const& file, Act act, Fail fail) {
  try {
    memory_limit const limit(gib);
    return act();
  } catch (std::bad_alloc const&) {
    return fail(needs_more_memory(file, gib));
  }
}

}  // namespace gpuprof::host::command
