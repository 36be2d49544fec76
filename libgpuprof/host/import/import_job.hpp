// SPDX-License-Identifier: Apache-2.0
// What an import is given, and what it has to say when it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuprof::host {

/// What every range of this name computes, "name" or "domain:name".
struct declared_range {
  std::string name;
  double flops = 0;
};

struct import_options {
  std::string source;
  std::string output;  // "run.gpuprof"; with several processes "run.PID.gpuprof"
  bool overwrite = false;
  std::optional<std::uint32_t> process;  // of several in one file, this one alone
  bool cpu_ops = false;                  // of PyTorch's traces: operators as ranges
  std::vector<declared_range> declared;
};

struct import_job {
  import_options options;
  /// A part of the work begins: so many units of it are ahead.
  std::function<void(std::string const& what, std::uint64_t units)> begin;
  std::function<void(std::uint64_t units)> advance;
};

struct import_outcome {
  std::vector<std::string> written;  // captures
  std::vector<std::string> notes;    // what a reader of the captures would not learn from them
  bool lacks_something = false;      // beyond what is left out on purpose
};

/// Why nothing is written, in one line. Thrown and caught inside of import.
struct import_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace gpuprof::host
