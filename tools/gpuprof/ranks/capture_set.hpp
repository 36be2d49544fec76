// SPDX-License-Identifier: Apache-2.0
// Several captures as the ranks of a job: which is whose, and what does not fit together.
#pragma once

#include "base/result.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::command {

/// What a capture says about the process that it is of.
struct ranked_capture {
  std::string path;
  std::string label;  // "3"; where that would be of several, "3 (pid 5003)"; of no rank: its file
  std::string
      file_name;  // for outputs, without extension: "rank3"; where that is not enough, its file
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0;  // 0: not known
  std::string host, program, job;
  std::uint32_t process = 0;
  bool has_gpu_work = true;
  timestamp_ns begin, end;  // of what was captured, by the host's clock; 0: not known
};

struct capture_set {
  std::vector<ranked_capture> captures;  // by rank; those without one behind
  std::vector<std::string> remarks;      // a line each: what is missing or does not fit
  bool has_unreadable = false;
};

/// What this capture says; its label and file name are for capture_set_of to give.
ranked_capture ranked(trace_contents& trace, std::string const& path);

/// Gives labels and file names, says what does not fit. Pure.
capture_set capture_set_of(std::vector<ranked_capture> captures);

/// Opens each for a moment. Those that cannot be read are named in the remarks; an error when that
/// is all of them.
result<capture_set> read_capture_set(std::span<std::string const> paths);

}  // namespace gpuprof::host::command
