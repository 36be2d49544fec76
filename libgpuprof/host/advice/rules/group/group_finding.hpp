// SPDX-License-Identifier: Apache-2.0
// What findings on groups of launches have in common, and the functions of their rules;
// group_rules.cpp describes each rule.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"
#include "host/advice/work_groups.hpp"

#include <string>
#include <vector>

namespace gpuprof::host::advice {

/// All launches but one of each instance go; that one takes the time of the work that remains.
std::vector<stated_repair> repairs_of(work_group const& group);
/// Mean of a step, from a sum over the recorded steps.
double per_step(run_facts const& facts, double of_all);
/// "4.2 ms a step" or, if there are no steps, "4.2 ms a stretch"; takes a sum over the recorded
/// steps.
std::string in_time_of_step(run_facts const& facts, double of_all_ns);
/// "64 times a step", "in each step" or, if there are no steps, how often in all: "2,560 times".
/// Takes a number over the recorded steps.
std::string how_often(run_facts const& facts, double instances);
/// Factor from the recorded steps to all steps that the advice is about.
double steps_per_recorded(run_facts const& facts);

/// What can go with launches: their own time, a launch for each, and the memory for what they make.
/// The CPU work before them may have other reasons.
double time_of_launches(run_facts const& facts, work_group const& group);

/// A finding whose repair keeps one launch of each instance; without `to_do` and `arithmetic`.
finding finding_on(run_facts const& facts, work_group const& group, std::string what);
/// The group if all of its launches can go.
work_group without_remainder(work_group group);

/// Adds say(group) for each group of this pattern.
template <class Say>
void at_groups(run_facts const& facts, group_pattern pattern, std::vector<finding>& found,
               Say const& say) {
  for (auto const& group : facts.groups)
    if (group.pattern == pattern && group.launches > 0) found.push_back(say(group));
}

// rows.cpp
void look_at_chains(run_facts const& facts, std::vector<finding>& found);
void look_at_attention(run_facts const& facts, std::vector<finding>& found);
void look_at_tuning(run_facts const& facts, std::vector<finding>& found);
void look_at_products_in_a_row(run_facts const& facts, std::vector<finding>& found);
void look_at_doubles(run_facts const& facts, std::vector<finding>& found);
void look_at_floats(run_facts const& facts, std::vector<finding>& found);
void look_at_optimizer(run_facts const& facts, std::vector<finding>& found);
// moves.cpp
void look_at_layouts(run_facts const& facts, std::vector<finding>& found);
void look_at_casts(run_facts const& facts, std::vector<finding>& found);
void look_at_other_moves(run_facts const& facts, std::vector<finding>& found);
void look_at_atomics(run_facts const& facts, std::vector<finding>& found);
void look_at_copies_to_host(run_facts const& facts, std::vector<finding>& found);
void look_at_masks(run_facts const& facts, std::vector<finding>& found);
void look_at_padding(run_facts const& facts, std::vector<finding>& found);
void look_at_sorts(run_facts const& facts, std::vector<finding>& found);

}  // namespace gpuprof::host::advice
