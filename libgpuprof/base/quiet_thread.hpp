// SPDX-License-Identifier: Apache-2.0
// Starts a thread of our own inside somebody else's program, on all CPUs that the process was
// given.
#pragma once

#include <cstddef>
#include <pthread.h>

namespace gpuprof {

/// Signals are blocked in it, for they are for the program's threads, but not those that say what
/// the thread itself did wrong: blocked, they would end the program without a word of its crash
/// handler. It computes in the default floating-point environment, on the CPUs of the process
/// (process_cpus) and with the usual scheduling policy, whatever its creator has been given. Calls
/// it makes are the profiler's own, see own_calls. `name` has at most 15 characters;
/// `stack_bytes` 0 takes the system's default. Returns 0, or the error of pthread_create; then
/// there is no thread. Join or detach it.
int start_quiet_thread(pthread_t& thread, char const* name, std::size_t stack_bytes,
                       void* (*run)(void*), void* argument) noexcept;

// The CPUs that the process was given, for threads of our own that a pinned thread has made.

/// When the library is loaded: the main thread then runs where the user, taskset, a container or a
/// job scheduler has put the process. Later calls change nothing. Allocates nothing.
void remember_cpus_of_process() noexcept;

/// The calling thread, one of our own, may run on the CPUs that were remembered, and on those that
/// the main thread and its own creator may use now: a program that pins its threads gives each of
/// them one CPU, where ours would compete with it. Where this is refused nothing changes.
void run_on_cpus_of_process() noexcept;

}  // namespace gpuprof
