// SPDX-License-Identifier: Apache-2.0
// From what rules found on each launch geometry of kernels to what is said of each kernel.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <vector>

namespace gpuprof::host::advice {

/// A shorter kernel saves time only where the program waits for it: not where it waits for
/// launches, and not where other kernels run meanwhile. This says whether it waits for launches.
///
/// The launching thread needs longer than the GPUs; where its time is not known: the GPUs wait for
/// launches in more than a tenth of the window.
bool launches_hold(run_facts const& facts);

/// For findings on kernels. Low gains count only launches that ran alone and whose successor was
/// already queued. Where launches hold the program and most launches of a kernel had no queued
/// successor, high gains do so too, and the finding says it.
void take_hidden_gains(std::vector<finding>& findings, run_facts const& facts);

/// Makes one finding where a rule found the same on many launch geometries or GPUs. Findings of one
/// rule on one kernel name, or of one family, become one: gains and instances are added up, words
/// and evidence are those of the part with the highest gain. So do findings without a kernel that
/// differ in nothing but their GPU. Keeps the order of the first ones.
std::vector<finding> merge_findings(std::vector<finding> findings);

/// Shares what each kernel can save among its findings, takes off what launches hide, merges
/// geometries. Findings without a kernel stay as they are.
std::vector<finding> settle_kernel_findings(std::vector<finding> findings, run_facts const& facts);

}  // namespace gpuprof::host::advice
