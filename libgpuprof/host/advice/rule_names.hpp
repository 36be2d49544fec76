// SPDX-License-Identifier: Apache-2.0
// Rules and the data they need, by name.
#pragma once

#include "host/advice/rule.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::advise {

/// Nothing where there is none of this name.
rule const* find_rule(std::string_view name) noexcept;

/// "kernels", "blocking_calls": as programs read them.
std::vector<std::string> names_of(data_set what);

}  // namespace gpuprof::advise
