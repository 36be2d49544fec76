// SPDX-License-Identifier: Apache-2.0
// Findings on one kernel share what that kernel can save: their gains never add up to more.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <vector>

namespace gpuprof::host::advice {

/// Good libraries reach 0.81 to 0.87 of the measured roofs; this is what a kernel is held to.
inline constexpr double reachable_share = 0.8;
/// Attention in one kernel needs as much time for its exponentials as for its products, at a head
/// size of 64; no roof that is measured counts these.
inline constexpr double reachable_share_of_attention = 0.4;
double reachable_share_of(kernel_facts const& kernel) noexcept;

/// Its time without the time at the share of the roof that can be reached; all of its time where
/// its distance to the roof is not known.
double cap_of(kernel_facts const& kernel) noexcept;

/// What a cause that is found can cost at best: its time without the time at the roof itself, which
/// kernels without a fault come close to (0.92 to 0.98 of measured roofs on an H100: products of
/// cuBLAS, copies, multiply-adds). Nothing of a kernel that is where kernels are held to.
double time_above_roof_of(kernel_facts const& kernel) noexcept;

/// One finding for each kernel leads: first other work, then causes, symptoms and the remainder;
/// of these the one with the highest gain. A symptom or a remainder is dropped where others explain
/// it; `also` of the leading finding names the dropped ones.
std::vector<finding> share_kernel_caps(std::vector<finding> findings, run_facts const& facts);

}  // namespace gpuprof::host::advice
