// SPDX-License-Identifier: Apache-2.0
// The functions of the rules on kernels; kernel_rules.cpp says what each is for.
#pragma once

#include "host/advice/rules/kernel/kernel_view.hpp"

namespace gpuprof::host::advice {

// roofs.cpp
void look_at_distance_to_roof(kernel_view const& view, std::vector<finding>& found);
void look_at_full_dram(run_facts const& facts, std::vector<finding>& found);
void look_at_clocks(run_facts const& facts, std::vector<finding>& found);
// products.cpp
void look_at_alignment(kernel_view const& view, std::vector<finding>& found);
void look_at_idle_tensor_cores(kernel_view const& view, std::vector<finding>& found);
void look_at_fp32_products(kernel_view const& view, std::vector<finding>& found);
void look_at_small_batch(run_facts const& facts, std::vector<finding>& found);
// needless_work.cpp
void look_at_fp64(kernel_view const& view, std::vector<finding>& found);
void look_at_padding(kernel_view const& view, std::vector<finding>& found);
// memory_access.cpp
void look_at_coalescing(kernel_view const& view, std::vector<finding>& found);
void look_at_local_memory(kernel_view const& view, std::vector<finding>& found);
void look_at_remote_memory(kernel_view const& view, std::vector<finding>& found);
// issue.cpp
void look_at_bank_conflicts(kernel_view const& view, std::vector<finding>& found);
void look_at_divergence(kernel_view const& view, std::vector<finding>& found);
void look_at_stalls(kernel_view const& view, std::vector<finding>& found);
// launch_shape.cpp
void look_at_small_grid(kernel_view const& view, std::vector<finding>& found);
void look_at_tail(kernel_view const& view, std::vector<finding>& found);
void look_at_block_size(kernel_view const& view, std::vector<finding>& found);
void look_at_imbalance(kernel_view const& view, std::vector<finding>& found);
// low_occupancy.cpp
void look_at_occupancy(kernel_view const& view, std::vector<finding>& found);

}  // namespace gpuprof::host::advice
