// SPDX-License-Identifier: Apache-2.0
// The input of an import, and its result.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuprof::host {

/// The work in every range of this name, which is "name" or "domain:name".
struct declared_range {
  std::string name;
  double flops = 0;
};

struct import_options {
  std::string source;
  std::string output;  // "run.gpuprof"; with several processes "run.PID.gpuprof"
  bool overwrite = false;
  std::optional<std::uint32_t> process;  // import only this one of several in the file
  bool cpu_ops = false;                  // PyTorch traces: import operators as ranges
  std::vector<declared_range> declared;
};

struct import_job {
  import_options options;
  /// Called when a part of the work begins, with its number of units.
  std::function<void(std::string const& what, std::uint64_t units)> begin;
  std::function<void(std::uint64_t units)> advance;
};

struct import_outcome {
  std::vector<std::string> written;  // paths of the captures
  std::vector<std::string> notes;    // notes that a reader of the captures would not find there
  bool lacks_something = false;      // more is missing than was left out on purpose
};

/// Turns a file of another profiler into captures. The first bytes of the file tell its type.
/// Captures get their names only if all of them were written. Exceptions of job.advance pass
/// through.
result<import_outcome> import_file(import_job const& job);

/// The reason why nothing is written, in one line. Thrown and caught inside the import.
struct import_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace gpuprof::host
