// SPDX-License-Identifier: Apache-2.0
// Starts a thread of gpuprof inside the program, on all CPUs that the process was given.
#pragma once

#include <cstddef>
#include <pthread.h>

namespace gpuprof {

/// Signals are blocked in it, because they are meant for the program's threads. Signals caused by
/// the thread's own errors are not blocked: they would end the program without calling its crash
/// handler. The thread uses the default floating-point environment, the CPUs of the process
/// (process_cpus) and the default scheduling policy, whatever its creator has. Its calls count as
/// the profiler's own, see own_calls. `name` has at most 15 characters; with `stack_bytes` 0 the
/// system's default is used. Returns 0, or the error of pthread_create if no thread was created.
/// Join or detach it.
int start_quiet_thread(pthread_t& thread, char const* name, std::size_t stack_bytes,
                       void* (*run)(void*), void* argument) noexcept;

// The CPUs of the process, for gpuprof's own threads that a pinned thread has created.

/// Called when the library is loaded: then the main thread may still use all CPUs that the user,
/// taskset, a container or a job scheduler gave the process. Later calls change nothing. Allocates
/// nothing.
void remember_cpus_of_process() noexcept;

/// Call it on a thread of gpuprof. The thread may then use the remembered CPUs, and those that the
/// main thread and its creator may use now. A program that pins its threads gives each one CPU,
/// where gpuprof's thread would compete with it. If the system refuses, nothing changes.
void run_on_cpus_of_process() noexcept;

}  // namespace gpuprof
