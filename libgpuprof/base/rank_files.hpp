// SPDX-License-Identifier: Apache-2.0
// Files that each rank of a job has, distinguished by ".rank3" in their names.
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

/// "run.rank3.gpuprof" -> "run.rank3`extension`"; empty if the capture's name has no rank.
std::string beside_ranked_capture(std::string const& capture, std::string_view extension);

/// "run.rank3.gpuprof" and 5 -> "run.rank5`extension`"; empty if the capture's name has no rank.
std::string file_of_rank(std::string const& capture, std::uint32_t rank,
                         std::string_view extension);

/// Returns the files of other ranks beside `capture`, sorted by rank: run.rank1`extension` for
/// run.rank0.gpuprof. Empty if the capture's name has no rank.
std::vector<rank_file> files_of_other_ranks(std::string const& capture, std::string_view extension);

}  // namespace gpuprof
