// SPDX-License-Identifier: Apache-2.0
// What this machine reaches, as `gpuprof peaks` measured it, and times and rates next to it.
#pragma once

#include "host/advice/facts.hpp"

#include <optional>
#include <string_view>

namespace gpuprof::host::advice {

/// In the unit of the test, as the first GPU has it; nothing: not measured.
std::optional<double> measured(run_facts const& facts, std::string_view test);
std::optional<double> measured(run_facts const& facts, device_id device, std::string_view test);

double rate_of(double bytes, double ns) noexcept;            // bytes a second; 0 of no time
double ns_at(double bytes, double bytes_a_second) noexcept;  // how long bytes take; 0 of no rate
double share_of_window(run_facts const& facts, double ns) noexcept;  // of all GPUs

}  // namespace gpuprof::host::advice
