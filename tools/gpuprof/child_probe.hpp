// SPDX-License-Identifier: Apache-2.0
// Runs a task in a child process, so that a crash or a hang in it costs only one line.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace gpuprof::host::command {

/// Findings by name. Each text is one line.
using findings = std::map<std::string, std::string>;

struct probe_outcome {
  findings found;
  std::string failure;  // "crashed with signal 11", "did not answer within 20 s"; empty: success
};

/// The child must not write to stdout or stderr.
probe_outcome probe_in_child(std::function<findings()> const& work, int timeout_s = 20);

}  // namespace gpuprof::host::command
