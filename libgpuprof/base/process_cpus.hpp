// SPDX-License-Identifier: Apache-2.0
// The CPUs that the process was given, for threads of our own that a pinned thread has made.
#pragma once

namespace gpuprof {

/// When the library is loaded: the main thread then runs where the user, taskset, a container or a
/// job scheduler has put the process. Later calls change nothing. Allocates nothing.
void remember_cpus_of_process() noexcept;

/// The calling thread, one of our own, may run on the CPUs that were remembered, and on those that
/// the main thread and its own creator may use now: a program that pins its threads gives each of
/// them one CPU, where ours would compete with it. Where this is refused nothing changes.
void run_on_cpus_of_process() noexcept;

}  // namespace gpuprof
