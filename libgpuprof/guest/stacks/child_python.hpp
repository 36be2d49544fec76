// SPDX-License-Identifier: Apache-2.0
// CPython in a child process that runs the same file of CPython as this one.
#pragma once

#include "guest/stacks/python_runtime.hpp"
#include "guest/stacks/python_threads.hpp"

#include <cstdint>
#include <memory>

namespace gpuprof::guest {

struct child_python {
  child_python(python_runtime const& own, std::ptrdiff_t distance, std::uint32_t process)
      : runtime(own.layout(), own.functions_at(distance)), threads(runtime, process) {}

  python_runtime runtime;
  python_threads threads;
};

/// Reads /proc/PROCESS/maps. Null: the process does not run this CPython, or the system forbids to
/// look. Throws std::bad_alloc.
std::unique_ptr<child_python> find_python_of_child(python_runtime const& own,
                                                   std::uint32_t process);

}  // namespace gpuprof::guest
