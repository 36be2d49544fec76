// SPDX-License-Identifier: Apache-2.0
// Words and numbers that describe a finding, and a finding as lines of advice.
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

/// Returns "launch_bound", the key for programs.
std::string_view key_of(time_bucket bucket) noexcept;
/// Returns the group of a rule: "launches".
std::string_view group_of(std::string_view rule) noexcept;
/// Returns "warning".
std::string_view name_of(advice::severity level) noexcept;

/// Returns "120 to 340 ms"; one number if both are equal.
std::string time_interval(advice::interval const& ns);
/// Returns "1.2 to 3.4 %".
std::string share_interval(advice::interval const& share);
/// Returns "1.2 %".
std::string percent(double share);

/// Returns "achieved 17.2 GB/s (counted)".
std::string evidence_words(advice::evidence const& one);

/// Returns ", if nothing needs the moves"; empty for a fix that takes nothing for granted.
std::string condition_of(advice::finding const& one);

/// Makes a table of all rules of `gpuprof analyze`: name, group, what the rule needs, and the
/// question it answers.
text::table rules_table(std::span<advice::rule const* const> rules);

/// Describes a rule in full, in lines of `width` characters; 0: lines are not wrapped.
std::string rule_description(advice::rule const& rule, std::size_t width);

/// Writes a finding as lines of advice.
struct finding_layout {
  std::size_t width = 0;           // 0: lines and names are not shortened
  std::size_t ranks = 1;           // number of ranks of the job
  bool bold = false;               // true if the terminal can show bold text
  std::string_view whole = "run";  // of which shares are
  std::size_t as_before = 0;       // number of an earlier finding that asks for the same; 0: none
};

/// Returns "1. what [rule]", then potential gain, where, why, what to do, and what to run to learn
/// more.
std::vector<std::string> finding_text(std::size_t number, advice::joined_finding const& of,
                                      finding_layout const& layout);

/// Breaks the text into lines of `width` characters and indents all but the first.
void append_wrapped(std::vector<std::string>& lines, std::string_view text, std::size_t width,
                    std::size_t indent);

}  // namespace gpuprof::host::report
