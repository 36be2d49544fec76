// SPDX-License-Identifier: Apache-2.0
// Finds the rank of this process in its job, from the launcher's environment variables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof {

struct process_rank {
  std::uint32_t rank = 0, world_size = 1;
  std::string variable;  // variable that gave the rank
  friend bool operator==(process_rank const&, process_rank const&) = default;
};

using variable_lookup = std::function<std::optional<std::string>(std::string const& variable)>;

/// Returns nothing if no launcher (torchrun, Open MPI, MVAPICH, PMI, Slurm) set the variables, or
/// for a job of one process.
std::optional<process_rank> rank_of(variable_lookup const& environment);

/// As rank_of(), from the environment stored in a capture. If the size of the job is missing there,
/// world_size is 0.
std::optional<process_rank> rank_in_capture(variable_lookup const& kept);

/// Returns true if a launcher puts the rank or size of the job into this variable.
bool is_rank_variable(std::string_view variable) noexcept;

}  // namespace gpuprof
