// SPDX-License-Identifier: Apache-2.0
// Structs through which the records of the loaded CUPTI are read.
//
// CUPTI fills the newest layout that it knows, and layouts grow only at the end. So each record is
// read through the oldest struct that has the fields we need; a field newer than CUDA 12.0 is used
// only if cuptiGetVersion() is high enough.
#pragma once

#include "guest/cupti/api.hpp"

#include <cupti.h>

namespace gpuprof::guest::layout {

using kernel = CUpti_ActivityKernel9;                        // CUDA 12.0
using copy = CUpti_ActivityMemcpy5;                          // 11.6
using copy_12_8 = CUpti_ActivityMemcpy6;                     // adds copyCount
using peer_copy = CUpti_ActivityMemcpyPtoP4;                 // 11.6
using set = CUpti_ActivityMemset4;                           // 11.6
using memory = CUpti_ActivityMemory3;                        // 11.6
using api_call = CUpti_ActivityAPI;                          // unchanged since 5.0
using synchronization = CUpti_ActivitySynchronization;       // 7.5
using synchronization_13 = CUpti_ActivitySynchronization2;   // adds returnValue
using graph = CUpti_ActivityGraphTrace;                      // 11.7
using unified_memory = CUpti_ActivityUnifiedMemoryCounter2;  // 7.0
// Used only for times in records of another client.
using overhead = CUpti_ActivityOverhead2;       // 12.0; `start` and `end` as in earlier versions
using jit = CUpti_ActivityJit;                  // 12.0
using allocation = CUpti_ActivityMemory;        // 7.0
using memory_pool = CUpti_ActivityMemoryPool2;  // 11.6
using marker = CUpti_ActivityMarker2;           // 7.0

// The part that we read is the same from Kernel4 to Kernel10; if a new toolkit changes it, give
// that version its own alias.
static_assert(offsetof(kernel, start) == offsetof(CUpti_ActivityKernel10, start));
static_assert(offsetof(kernel, correlationId) == offsetof(CUpti_ActivityKernel10, correlationId));
static_assert(offsetof(kernel, name) == offsetof(CUpti_ActivityKernel10, name));
static_assert(offsetof(kernel, graphNodeId) == offsetof(CUpti_ActivityKernel10, graphNodeId));
static_assert(offsetof(kernel, localMemoryTotal_v2) ==
              offsetof(CUpti_ActivityKernel10, localMemoryTotal_v2));
static_assert(offsetof(kernel, maxActiveClusters) ==
              offsetof(CUpti_ActivityKernel10, maxActiveClusters));
static_assert(offsetof(copy, graphId) == offsetof(CUpti_ActivityMemcpy6, graphId));
static_assert(offsetof(memory, memoryPoolConfig) ==
              offsetof(CUpti_ActivityMemory4, memoryPoolConfig));

inline bool has_copy_count(unsigned version) noexcept {
  return version >= cupti_version::has_copy_count;
}
inline bool has_sync_result(unsigned version) noexcept {
  return version >= cupti_version::cuda_13_0;
}

}  // namespace gpuprof::guest::layout
