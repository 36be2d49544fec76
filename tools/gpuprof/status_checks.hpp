// SPDX-License-Identifier: Apache-2.0
// What can be found out about this machine: one line for each thing tracing depends on.
#pragma once

#include <string>
#include <vector>

namespace gpuprof::host::command {

enum class check_state { ok, limited, missing, unknown };

struct check {
  std::string name;  // "driver"
  check_state state = check_state::unknown;
  std::string text;  // what was found
  std::string fix;   // what to do; empty when there is nothing to do
};

/// Driver, GPUs, libcupti, the CUPTI subscriber, libgpuprof.so. Each is probed in a child process:
/// what crashes there is one line here.
std::vector<check> gpu_checks();

/// "13.0.1 at /usr/local/cuda/lib64/libcupti.so.13", or "none, " and why.
std::string cupti_here();

/// Counter rights, MPS, container, other tools, environment, which gpuprof PATH finds, versions of
/// the system. Reads files
/// below `root` only ("" for this machine) and `environment`.
std::vector<check> system_checks(std::string const& root, char const* const* environment);

}  // namespace gpuprof::host::command
