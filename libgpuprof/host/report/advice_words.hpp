// SPDX-License-Identifier: Apache-2.0
// The words and figures that say what a finding is about.
#pragma once

#include "host/advice/joined_advice.hpp"
#include "host/advice/rule.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "text/table.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gpuprof::host::report {

/// "launch_bound": as programs read it.
std::string_view key_of(time_bucket bucket) noexcept;
/// Of a rule: "launches".
std::string_view group_of(std::string_view rule) noexcept;
/// "warning".
std::string_view name_of(advice::severity level) noexcept;

/// "120 to 340 ms"; one figure where both are the same.
std::string time_interval(advice::interval const& ns);
/// "1.2 to 3.4 %".
std::string share_interval(advice::interval const& share);
/// "1.2 %".
std::string percent(double share);

/// "achieved 17.2 GB/s (counted)".
std::string evidence_words(advice::evidence const& one);

/// All rules of `gpuprof analyze` as a table for reading: name, group, what it needs, the question
/// it answers.
text::table rules_table(std::span<advice::rule const* const> rules);

/// All that is known of a rule, in lines of that width; 0: as long as they are.
std::string rule_description(advice::rule const& rule, std::size_t width);

}  // namespace gpuprof::host::report
