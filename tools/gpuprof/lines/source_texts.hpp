// SPDX-License-Identifier: Apache-2.0
// The text of source lines.
#pragma once

#include "base/time.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

/// Lines come from the capture, else from a file that has not been changed since it began.
class source_texts {
 public:
  explicit source_texts(trace_contents& trace);

  /// Returns the line without the blanks around it; empty if it cannot be told.
  std::string line(std::string const& file, std::uint32_t number);

 private:
  std::vector<std::string> const& lines_of(std::string const& file);

  timestamp_ns captured_;
  std::map<std::pair<std::string, std::uint32_t>, std::string> stored_;
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace gpuprof::host::command
