// SPDX-License-Identifier: Apache-2.0
// A shorter kernel saves time only where the program waits for it: not where it waits for launches,
// and not where other kernels run meanwhile.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"

#include <vector>

namespace gpuprof::advise {

/// The launching thread needs longer than the GPUs; where its time is not known: the GPUs wait for
/// launches in more than a tenth of the window.
bool launches_hold(run_facts const& facts);

/// For findings on kernels. Low gains count only launches that ran alone and whose successor was
/// already queued. Where launches hold the program and most launches of a kernel had no queued
/// successor, high gains do so too, and the finding says it.
void take_hidden_gains(std::vector<finding>& findings, run_facts const& facts);

}  // namespace gpuprof::advise
