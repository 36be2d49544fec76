// SPDX-License-Identifier: Apache-2.0
// Which of the cooperating processes of a job this is, as its launcher says.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace gpuprof {

struct process_rank {
  std::uint32_t rank = 0, world_size = 1;
  std::string variable;  // where the rank was read
  friend bool operator==(process_rank const&, process_rank const&) = default;
};

using variable_lookup = std::function<std::optional<std::string>(std::string const& variable)>;

/// Empty when no launcher (torchrun, Open MPI, MVAPICH, PMI, Slurm) has said so, or for a job of
/// one process.
std::optional<process_rank> rank_of(variable_lookup const& environment);

}  // namespace gpuprof
