// SPDX-License-Identifier: Apache-2.0
// The ways a program can end, or go on, that a profiler inside it must survive.
#pragma once

#include <optional>
#include <string_view>

namespace gpuprof::replay {

class performance;

enum class ending {
  normal,
  underscore_exit,  // _exit(0): no exit handler runs
  kill,             // SIGKILL to itself
  throw_exception,  // an exception nobody catches
  abort,
  fork,          // a child that makes NVTX calls and exits; the parent goes on
  exec,          // the same program once more, in the same process
  in_flight,     // main returns while kernels run
  device_reset,  // cudaDeviceReset, then goes on
};

std::optional<ending> ending_named(std::string_view name);
/// "normal, _exit, kill, ..."
std::string_view ending_names();

/// What performance::run does half-way or at the end; `arguments` are those of main.
void carry_out(ending, performance&, char** arguments);

}  // namespace gpuprof::replay
