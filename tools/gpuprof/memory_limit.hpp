// SPDX-License-Identifier: Apache-2.0
// Keeps what reads a capture within a limit of memory: a small file may claim any amount of rows.
#pragma once

#include <new>
#include <string>
#include <sys/resource.h>

namespace gpuprof::host::command {

inline constexpr double default_memory_gib = 1;
inline constexpr char memory_limit_help[] =
    "GIB: stop, and say so, rather than take more memory than this";

/// While it lives, the process gets no more than this beyond what it has: new throws
/// std::bad_alloc. Children inherit it.
class memory_limit {
 public:
  explicit memory_limit(double gib) noexcept;
  ~memory_limit();
  memory_limit(memory_limit const&) = delete;
  memory_limit& operator=(memory_limit const&) = delete;

 private:
  rlimit before_{};
};

/// "app.gpuprof takes more than 1 GiB of memory to read": what is lost, what to do.
std::string needs_more_memory(std::string const& file, double gib);

/// What `act` returns; what `fail` returns, given the line to say, when it needs more memory.
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
