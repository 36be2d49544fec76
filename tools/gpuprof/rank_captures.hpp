// The captures of a job's other ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof {

struct rank_capture {
  std::uint32_t rank = 0;
  std::string path;
};

/// By their names: run.rank1.gpuprof beside run.rank0.gpuprof, in the order of ranks. None for a
/// capture that is not named so.
std::vector<rank_capture> captures_of_other_ranks(std::string const& path);

}  // namespace gpuprof
