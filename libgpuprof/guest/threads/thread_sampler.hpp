// SPDX-License-Identifier: Apache-2.0
// A thread of gpuprof that looks at threads of the program about a hundred times a second: what
// they do, and their Python stacks. No signals, no ptrace; the program's threads do nothing for it.
#pragma once

#include "base/ledger.hpp"

namespace gpuprof::guest {

class python_runtime;

/// From now on, threads are looked at while log_is_recording. Starts the thread, once in a process.
/// Returns 0, or the error of the system if there is no thread. `python` may be null.
int sample_threads(python_runtime const* python) noexcept;

/// The CPU time that was spent, and samples that were lost.
void report_thread_sampler(ledger& to);

}  // namespace gpuprof::guest
