// SPDX-License-Identifier: Apache-2.0
// Keeps the arithmetic of a finding in step with its gain: who changes a gain says why there.
#pragma once

#include "host/advice/finding.hpp"

#include <string>
#include <string_view>

namespace gpuprof::host::advice {

/// "0 to 650 ms"; "3.2 ms" if both ends read the same.
std::string in_words(time_gain const& gain);

/// Ends the arithmetic of a rule with the gain that it leads to. A finding without a gain says in
/// its own words why.
void say_gain(finding& one);

/// Says in the arithmetic what has changed the gain since it was `before`. Nothing is added if it
/// reads the same.
void say_change(finding& one, time_gain const& before, std::string_view why);

}  // namespace gpuprof::host::advice
