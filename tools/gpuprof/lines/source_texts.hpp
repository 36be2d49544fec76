// SPDX-License-Identifier: Apache-2.0
// The text of source lines, from the files on this machine.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuprof::host::command {

/// A file that was changed after the capture began says nothing of the lines that ran.
class source_texts {
 public:
  explicit source_texts(timestamp_ns captured) noexcept : captured_(captured) {}

  /// Returns the line without the blanks around it; empty if it cannot be told.
  std::string line(std::string const& file, std::uint32_t number);

 private:
  std::vector<std::string> const& lines_of(std::string const& file);

  timestamp_ns captured_;
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace gpuprof::host::command
