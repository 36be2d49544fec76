// SPDX-License-Identifier: Apache-2.0
// The steps that a thread counts with gpuprof_step(), as push/pop ranges like those of NVTX.
#pragma once

#include "guest/nvtx/thread_log.hpp"
#include "model/own_ranges.hpp"

namespace gpuprof::guest {

/// Ends the step of the thread, if it has begun one.
void end_step(thread_log& log) noexcept;

/// After end_step(). Steps lie side by side, never one in another, whatever ranges the program
/// opens in one and closes in the next; those of a range that is open around all lie in that.
void begin_step(thread_log& log) noexcept;

}  // namespace gpuprof::guest
