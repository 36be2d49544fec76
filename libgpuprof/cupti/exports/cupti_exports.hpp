// SPDX-License-Identifier: Apache-2.0
// The functions of CUPTI that libgpuprof.so exports.
#pragma once

// clang-format off
#define GPUPROF_SHARED_FUNCTIONS(X)      \
  X(cuptiSubscribe)                      \
  X(cuptiSubscribe_v2)                   \
  X(cuptiUnsubscribe)                    \
  X(cuptiEnableCallback)                 \
  X(cuptiEnableDomain)                   \
  X(cuptiEnableAllDomains)               \
  X(cuptiGetCallbackState)               \
  X(cuptiActivityRegisterCallbacks)      \
  X(cuptiActivityEnable)                 \
  X(cuptiActivityDisable)                \
  X(cuptiActivityEnableContext)          \
  X(cuptiActivityDisableContext)         \
  X(cuptiActivityEnableRuntimeApi)       \
  X(cuptiActivityEnableDriverApi)        \
  X(cuptiActivityFlushAll)               \
  X(cuptiActivityFlushPeriod)            \
  X(cuptiActivityRegisterTimestampCallback) \
  X(cuptiFinalize)

// What a client asks beside: of the library that is shared, since it may be linked against another.
#define GPUPROF_FORWARDED_FUNCTIONS(X)   \
  X(cuptiGetTimestamp)                   \
  X(cuptiSetThreadIdType)                \
  X(cuptiActivityGetNextRecord)          \
  X(cuptiActivityGetNumDroppedRecords)   \
  X(cuptiActivityGetAttribute)           \
  X(cuptiActivitySetAttribute)           \
  X(cuptiActivityPushExternalCorrelationId) \
  X(cuptiActivityPopExternalCorrelationId)  \
  X(cuptiActivityEnableLatencyTimestamps)
// clang-format on

namespace gpuprof {

/// Ours of that name; null: there is none, or CUPTI is not shared.
void* shared_function(char const* name) noexcept;

/// `function`, which somebody found in a libcupti, as the libcupti has it that is shared. Proton
/// brings one along: of two in a process only one gets records, and their records differ.
void* in_one_library(char const* name, void* function) noexcept;

}  // namespace gpuprof
