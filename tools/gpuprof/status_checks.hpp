// SPDX-License-Identifier: Apache-2.0
// Checks this machine: one line for each thing that tracing depends on.
#pragma once

#include <string>
#include <vector>

namespace gpuprof::host::command {

enum class check_state { ok, limited, missing, unknown };

struct check {
  std::string name;  // "driver"
  check_state state = check_state::unknown;
  std::string text;  // what was found
  std::string fix;   // what to do; empty if nothing
};

/// Checks driver, GPUs, libcupti, the CUPTI subscriber and libgpuprof.so. Each is probed in a child
/// process, so a crash there gives one line here.
std::vector<check> gpu_checks();

/// Returns "13.0.1 at /usr/local/cuda/lib64/libcupti.so.13", or "none, " with the reason.
std::string cupti_here();

/// Checks counter rights, MPS, container, other tools, environment, which gpuprof PATH finds, and
/// system versions. Reads only files below `root` ("" for this machine) and `environment`.
std::vector<check> system_checks(std::string const& root, char const* const* environment);

}  // namespace gpuprof::host::command
