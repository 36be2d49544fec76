// SPDX-License-Identifier: Apache-2.0
// Which of the cooperating processes of a job this is, as its launcher says.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

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

/// The same from what a capture kept of the environment: the size of the job may be missing there,
/// world_size is 0 then.
std::optional<process_rank> rank_in_capture(variable_lookup const& kept);

/// Whether a launcher tells rank or size of the job in this variable.
bool is_rank_variable(std::string_view variable) noexcept;

}  // namespace gpuprof
