// SPDX-License-Identifier: Apache-2.0
// The words and figures that say what a finding is about, and a finding as a block of lines that
// read as advice.
#pragma once

#include "host/advice/joined_advice.hpp"
#include "host/advice/rule.hpp"
#include "host/analysis/timeline/time_bucket.hpp"
#include "text/table.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// A finding as a block of lines that read as advice.
struct finding_layout {
  std::size_t width = 0;  // 0: lines and names stay whole
  std::size_t ranks = 1;  // of the job
  bool bold = false;      // the terminal shows it
};

/// "1. what [rule]", then potential gain, where, why, what to do, what to run to know more.
std::vector<std::string> finding_text(std::size_t number, advice::joined_finding const& of,
                                      finding_layout const& layout);

/// In lines of that width, the second and later ones set in.
void append_wrapped(std::vector<std::string>& lines, std::string_view text, std::size_t width,
                    std::size_t indent);

}  // namespace gpuprof::host::report
