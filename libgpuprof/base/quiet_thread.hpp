// SPDX-License-Identifier: Apache-2.0
// Starts a thread of our own inside somebody else's program.
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

}  // namespace gpuprof
