// SPDX-License-Identifier: Apache-2.0
// Declares the functions of the rules on launches and on memory.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <vector>

namespace gpuprof::host::advice {

// The rules on launches.
void look_at_sequences(run_facts const& facts, std::vector<finding>& found);
void look_at_tiny_kernels(run_facts const& facts, std::vector<finding>& found);
void look_at_launch_delay(run_facts const& facts, std::vector<finding>& found);
void look_at_late_modules(run_facts const& facts, std::vector<finding>& found);
void look_at_graph_builds(run_facts const& facts, std::vector<finding>& found);
void look_at_other_idle_time(run_facts const& facts, std::vector<finding>& found);

// The rules on memory.
void look_at_pageable_copies(run_facts const& facts, std::vector<finding>& found);
void look_at_synchronous_copies(run_facts const& facts, std::vector<finding>& found);
void look_at_copies_alone(run_facts const& facts, std::vector<finding>& found);
void look_at_small_copies(run_facts const& facts, std::vector<finding>& found);
void look_at_round_trips(run_facts const& facts, std::vector<finding>& found);
void look_at_allocations(run_facts const& facts, std::vector<finding>& found);
void look_at_migrations(run_facts const& facts, std::vector<finding>& found);

}  // namespace gpuprof::host::advice
