// SPDX-License-Identifier: Apache-2.0
#include "model/process_rank.hpp"

#include "base/readable.hpp"

#include <array>

namespace gpuprof {
namespace {

struct rank_variables {
  char const* rank;
  char const* world_size;
};
// Slurm comes last: under `mpirun` in a Slurm job all processes of a node have the same
// SLURM_PROCID.
constexpr std::array<rank_variables, 5> launchers{{
    {"RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
}};

}  // namespace

std::optional<process_rank> rank_of(variable_lookup const& environment) {
  for (auto const& launcher : launchers) {
    auto const rank = whole_number<std::uint32_t>(environment(launcher.rank));
    auto const size = whole_number<std::uint32_t>(environment(launcher.world_size));
    if (rank && size && *size > 1) return process_rank{*rank, *size, launcher.rank};
  }
  return std::nullopt;
}

std::optional<process_rank> rank_in_capture(variable_lookup const& kept) {
  if (auto whole = rank_of(kept)) return whole;
  for (auto const& launcher : launchers)
    if (auto const rank = whole_number<std::uint32_t>(kept(launcher.rank)))
      return process_rank{*rank, whole_number<std::uint32_t>(kept(launcher.world_size)).value_or(0),
                          launcher.rank};
  return std::nullopt;
}

bool is_rank_variable(std::string_view variable) noexcept {
  for (auto const& launcher : launchers)
    if (variable == launcher.rank || variable == launcher.world_size) return true;
  return false;
}

}  // namespace gpuprof
