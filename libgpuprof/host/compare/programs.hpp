// SPDX-License-Identifier: Apache-2.0
// Whether two runs are of one program.
#pragma once

#include "host/compare/run_digest.hpp"

#include <span>
#include <string>

namespace gpuprof::compare {

/// The file that runs, without its folder; of an interpreter the script or module.
std::string program_of(run_digest const& run);

/// Why the sides should not be compared: they are of different programs. Empty: they may be.
std::string programs_differ(std::span<run_digest const> base, std::span<run_digest const> fresh);

}  // namespace gpuprof::compare
