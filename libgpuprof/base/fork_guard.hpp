// Keeps the program from forking while one of our threads is where it may hold locks of the loader
// or of libraries: a child would have them locked for ever.
#pragma once

namespace gpuprof {

/// While it lives, fork() waits: 2 s at most, should we never come back. Around calls that open
/// libraries, as CUPTI's first ones for counters do. Waits itself for a fork that is under way. On
/// our threads only, and not nested.
class fork_guard {
 public:
  fork_guard() noexcept;
  ~fork_guard();
  fork_guard(fork_guard const&) = delete;
  fork_guard& operator=(fork_guard const&) = delete;
};

}  // namespace gpuprof
