// SPDX-License-Identifier: Apache-2.0
// The measured rates of this machine (`gpuprof peaks`), and helpers for times and rates.
#pragma once

#include "host/advice/facts.hpp"

#include <optional>
#include <string_view>

namespace gpuprof::host::advice {

/// Returns the result of a test, in its unit, on `device` or on the first GPU that has it. Nothing:
/// not measured.
std::optional<double> measured(run_facts const& facts, std::string_view test);
std::optional<double> measured(run_facts const& facts, device_id device, std::string_view test);

double rate_of(double bytes, double ns) noexcept;  // bytes per second; 0 if `ns` is 0
// time to move the bytes; 0 if the rate is 0
double ns_at(double bytes, double bytes_a_second) noexcept;
double share_of_window(run_facts const& facts, double ns) noexcept;  // of all GPUs

}  // namespace gpuprof::host::advice
