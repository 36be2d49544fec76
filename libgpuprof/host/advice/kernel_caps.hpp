// SPDX-License-Identifier: Apache-2.0
// Divides the time that a kernel can save among its findings, so that gains never add up to more.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <vector>

namespace gpuprof::host::advice {

/// Kernels are compared with this share; good libraries reach 0.81 to 0.87 of the measured roofs.
inline constexpr double reachable_share = 0.8;
/// Share for attention kernels: at a head size of 64 they need as much time for exponentials as for
/// products, and no measured roof counts exponentials.
inline constexpr double reachable_share_of_attention = 0.4;
double reachable_share_of(kernel_facts const& kernel) noexcept;

/// The kernel's time minus the time it would take at the reachable share of the roof. All of its
/// time if its distance to the roof is not known.
double cap_of(kernel_facts const& kernel) noexcept;

/// The most that a cause can cost: the kernel's time minus its time at the roof itself, which
/// faultless kernels nearly reach (0.92 to 0.98 of measured roofs on an H100: cuBLAS products,
/// copies, multiply-adds). 0 if the kernel already reaches its reachable share.
double time_above_roof_of(kernel_facts const& kernel) noexcept;

/// Puts one finding of each kernel first: by claim (other work, causes, symptoms, remainder), then
/// by gain. Drops a symptom or a remainder if other findings explain it; `also` of the leading
/// finding names the dropped ones.
std::vector<finding> share_kernel_caps(std::vector<finding> findings, run_facts const& facts);

}  // namespace gpuprof::host::advice
