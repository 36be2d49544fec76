// SPDX-License-Identifier: Apache-2.0
// Reads the source lines of the program's own Python frames, so that a capture shows them on any
// machine.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// A line of a source file.
struct source_place {
  name_id file{};
  std::uint32_t line = 0;
  friend auto operator<=>(source_place const&, source_place const&) = default;
};
struct source_line {
  source_place place;
  std::string text;  // without the blanks around it
};

/// `path`: of the file of all `places`. Returns nothing if it is larger than 8 MiB, is no regular
/// file, or was changed after `since`: then it may not hold the lines that run. May wait for a
/// disk.
std::vector<source_line> read_source_lines(std::string const& path,
                                           std::span<source_place const> places,
                                           timestamp_ns since);

}  // namespace gpuprof::guest
