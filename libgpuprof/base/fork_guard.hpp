// SPDX-License-Identifier: Apache-2.0
// Keeps the program from forking while a thread holds locks or has unfinished changes that a child
// would inherit.
#pragma once

namespace gpuprof {

/// While it lives, fork() waits for it, 2 s at most. Used around calls that open libraries, such as
/// CUPTI's first calls for counters, and around locks that children also take. The constructor
/// waits for a fork in progress, also 2 s at most, but not for one of its own thread. Any thread; a
/// nested guard does nothing.
class fork_guard {
 public:
  fork_guard() noexcept;
  ~fork_guard();
  fork_guard(fork_guard const&) = delete;
  fork_guard& operator=(fork_guard const&) = delete;
};

/// Guards work after this call. Idempotent.
void watch_forks() noexcept;

/// After this call each forked child calls `run`, after all functions registered before. Call once
/// per function; returns false if there is no room for more. Nothing else here may call
/// pthread_atfork(): before glibc 2.36 it waits until no fork is in progress, and a fork waits for
/// guards.
bool run_in_children(void (*run)()) noexcept;

/// True in a child if a thread was inside a guard during the fork and did not leave it in time.
bool was_forked_in_guard() noexcept;

}  // namespace gpuprof
