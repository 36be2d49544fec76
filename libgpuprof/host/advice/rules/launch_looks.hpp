// SPDX-License-Identifier: Apache-2.0
// The functions of the rules on launches.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <vector>

namespace gpuprof::advise {

void look_at_sequences(run_facts const& facts, std::vector<finding>& found);
void look_at_tiny_kernels(run_facts const& facts, std::vector<finding>& found);
void look_at_launch_delay(run_facts const& facts, std::vector<finding>& found);
void look_at_late_modules(run_facts const& facts, std::vector<finding>& found);
void look_at_graph_builds(run_facts const& facts, std::vector<finding>& found);
void look_at_other_idle_time(run_facts const& facts, std::vector<finding>& found);

}  // namespace gpuprof::advise
