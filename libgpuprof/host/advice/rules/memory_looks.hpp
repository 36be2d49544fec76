// SPDX-License-Identifier: Apache-2.0
// The functions of the rules on memory.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <vector>

namespace gpuprof::advise {

void look_at_pageable_copies(run_facts const& facts, std::vector<finding>& found);
void look_at_synchronous_copies(run_facts const& facts, std::vector<finding>& found);
void look_at_copies_alone(run_facts const& facts, std::vector<finding>& found);
void look_at_small_copies(run_facts const& facts, std::vector<finding>& found);
void look_at_round_trips(run_facts const& facts, std::vector<finding>& found);
void look_at_allocations(run_facts const& facts, std::vector<finding>& found);
void look_at_migrations(run_facts const& facts, std::vector<finding>& found);

}  // namespace gpuprof::advise
