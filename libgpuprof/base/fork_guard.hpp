// SPDX-License-Identifier: Apache-2.0
// Keeps the program from forking while somebody is where a child would find locks held for ever, or
// things half done.
#pragma once

namespace gpuprof {

/// While it lives, fork() waits: 2 s at most, should nobody come back. Around calls that open
/// libraries, as CUPTI's first ones for counters do, and around locks that also children take.
/// Waits itself, as long at most, for a fork that is under way, but not for one of this very
/// thread. Any thread; a guard within a guard does nothing.
class fork_guard {
 public:
  fork_guard() noexcept;
  ~fork_guard();
  fork_guard(fork_guard const&) = delete;
  fork_guard& operator=(fork_guard const&) = delete;
};

/// Guards work from here on. Idempotent.
void watch_forks() noexcept;

/// From here on each forked child calls `run`, after all that were given before. For each function
/// once; false if there is no room for more. pthread_atfork() must not be called by anything else
/// here: before glibc 2.36 it waits until no fork is under way, and a fork waits for guards.
bool run_in_children(void (*run)()) noexcept;

/// In a child: while it was made, somebody was in a guard and did not come back in time.
bool was_forked_in_guard() noexcept;

}  // namespace gpuprof
