// SPDX-License-Identifier: Apache-2.0
// The rules of `gpuprof analyze` for reading: all as a table, one in full.
#pragma once

#include "host/advice/rule.hpp"
#include "text/table.hpp"

#include <span>
#include <string>

namespace gpuprof::report {

/// Name, group, what it needs, the question it answers.
table rules_table(std::span<advise::rule const* const> rules);

/// All that is known of a rule, in lines of that width; 0: as long as they are.
std::string rule_description(advise::rule const& rule, std::size_t width);

}  // namespace gpuprof::report
