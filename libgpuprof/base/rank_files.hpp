// SPDX-License-Identifier: Apache-2.0
// Files of which each rank of a job has one, told apart by ".rank3" in their names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof {

struct rank_file {
  std::uint32_t rank = 0;
  std::string path;
};

/// "run.rank3.gpuprof" -> "run.rank3`extension`"; empty for a capture that is not named so.
std::string beside_ranked_capture(std::string const& capture, std::string_view extension);

/// "run.rank3.gpuprof" and 5 -> "run.rank5`extension`"; empty for a capture that is not named so.
std::string file_of_rank(std::string const& capture, std::uint32_t rank,
                         std::string_view extension);

/// Those of other ranks beside `capture`, in the order of ranks: run.rank1`extension` where it is
/// run.rank0.gpuprof. None for a capture that is not named so.
std::vector<rank_file> files_of_other_ranks(std::string const& capture, std::string_view extension);

}  // namespace gpuprof
