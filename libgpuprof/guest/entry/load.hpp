// SPDX-License-Identifier: Apache-2.0
// Why the library is in this process.
#pragma once

namespace gpuprof {

/// The injection variables were set by the library for another process, from which this one has
/// inherited them: it was preloaded or linked there, and is neither here.
bool injection_is_left_over() noexcept;

/// LD_PRELOAD names libgpuprof.so, and the program is linked against libcupti: its calls of CUPTI
/// do not come through libgpuprof_preload.so.
bool cupti_is_out_of_reach() noexcept;

}  // namespace gpuprof
