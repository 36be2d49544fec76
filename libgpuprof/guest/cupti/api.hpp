// SPDX-License-Identifier: Apache-2.0
// Table of pointers to the CUPTI functions that we use, from a real libcupti, or from a fake one in
// tests.
#pragma once

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>

namespace gpuprof::guest {

// Required for tracing. If one is missing, tracing is off.
#define GPUPROF_CUPTI_TRACING(X)       \
  X(cuptiGetVersion)                   \
  X(cuptiGetResultString)              \
  X(cuptiSubscribe)                    \
  X(cuptiUnsubscribe)                  \
  X(cuptiEnableCallback)               \
  X(cuptiGetCallbackName)              \
  X(cuptiActivityRegisterCallbacks)    \
  X(cuptiActivityEnable)               \
  X(cuptiActivityDisable)              \
  X(cuptiActivitySetAttribute)         \
  X(cuptiActivityFlushAll)             \
  X(cuptiActivityGetNextRecord)        \
  X(cuptiActivityGetNumDroppedRecords) \
  X(cuptiFinalize)

// Optional; each caller checks. They are newer than CUDA 12.0 or used only on request.
#define GPUPROF_CUPTI_OPTIONAL(X)               \
  X(cuptiEnableDomain)                          \
  X(cuptiSubscribe_v2)                          \
  X(cuptiSetThreadIdType)                       \
  X(cuptiGetDeviceId)                           \
  X(cuptiGetContextId)                          \
  X(cuptiGetGraphNodeId)                        \
  X(cuptiDeviceGetChipName)                     \
  X(cuptiActivityConfigureUnifiedMemoryCounter) \
  X(cuptiEnableAllDomains)                      \
  X(cuptiGetCallbackState)                      \
  X(cuptiActivityEnableContext)                 \
  X(cuptiActivityDisableContext)                \
  X(cuptiActivityEnableDriverApi)               \
  X(cuptiActivityEnableRuntimeApi)              \
  X(cuptiActivityFlushPeriod)                   \
  X(cuptiActivityRegisterTimestampCallback)

// Required to list metrics and to plan passes, which needs no GPU. Since CUDA 12.6; if one is
// missing, counters are off and the rest works.
#define GPUPROF_CUPTI_COUNTERS(X)         \
  X(cuptiProfilerHostInitialize)          \
  X(cuptiProfilerHostDeinitialize)        \
  X(cuptiProfilerHostGetSupportedChips)   \
  X(cuptiProfilerHostGetBaseMetrics)      \
  X(cuptiProfilerHostGetSubMetrics)       \
  X(cuptiProfilerHostGetMetricProperties) \
  X(cuptiProfilerHostConfigAddMetrics)    \
  X(cuptiProfilerHostGetConfigImageSize)  \
  X(cuptiProfilerHostGetConfigImage)      \
  X(cuptiProfilerHostGetNumOfPasses)

// Required to count around launches. Since CUDA 12.6, too.
#define GPUPROF_CUPTI_RANGES(X)                   \
  X(cuptiProfilerInitialize)                      \
  X(cuptiProfilerDeviceSupported)                 \
  X(cuptiProfilerGetCounterAvailability)          \
  X(cuptiProfilerHostEvaluateToGpuValues)         \
  X(cuptiRangeProfilerEnable)                     \
  X(cuptiRangeProfilerDisable)                    \
  X(cuptiRangeProfilerSetConfig)                  \
  X(cuptiRangeProfilerStart)                      \
  X(cuptiRangeProfilerStop)                       \
  X(cuptiRangeProfilerPushRange)                  \
  X(cuptiRangeProfilerPopRange)                   \
  X(cuptiRangeProfilerDecodeData)                 \
  X(cuptiRangeProfilerGetCounterDataSize)         \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerGetCounterDataInfo)         \
  X(cuptiRangeProfilerCounterDataGetRangeInfo)

// Required to sample a whole GPU, with the first four of the ranges group. Since CUDA 12.6, too.
#define GPUPROF_CUPTI_SAMPLING(X)              \
  X(cuptiPmSamplingGetCounterAvailability)     \
  X(cuptiPmSamplingEnable)                     \
  X(cuptiPmSamplingDisable)                    \
  X(cuptiPmSamplingSetConfig)                  \
  X(cuptiPmSamplingStart)                      \
  X(cuptiPmSamplingStop)                       \
  X(cuptiPmSamplingDecodeData)                 \
  X(cuptiPmSamplingGetCounterDataSize)         \
  X(cuptiPmSamplingCounterDataImageInitialize) \
  X(cuptiPmSamplingGetCounterDataInfo)         \
  X(cuptiPmSamplingCounterDataGetSampleInfo)

#define GPUPROF_CUPTI_FUNCTIONS(X) \
  GPUPROF_CUPTI_TRACING(X)         \
  GPUPROF_CUPTI_OPTIONAL(X)        \
  GPUPROF_CUPTI_COUNTERS(X)        \
  GPUPROF_CUPTI_RANGES(X)          \
  GPUPROF_CUPTI_SAMPLING(X)

/// A null member means that this libcupti does not have the function.
struct cupti_api {
#define GPUPROF_MEMBER(name) decltype(&::name) name = nullptr;
  GPUPROF_CUPTI_FUNCTIONS(GPUPROF_MEMBER)
#undef GPUPROF_MEMBER

  /// Returns the name of the first missing function of the tracing group, or nullptr if the group
  /// is complete.
  char const* first_missing_for_tracing() const noexcept;
  /// The same for the counters group.
  char const* first_missing_for_counters() const noexcept;
  /// The same for the ranges group.
  char const* first_missing_for_ranges() const noexcept;
  /// The same for the sampling group.
  char const* first_missing_for_sampling() const noexcept;
};

/// Fills the table from a loaded library.
cupti_api resolve_cupti(void* library) noexcept;

/// Values of cuptiGetVersion() at which something that we depend on changed.
namespace cupti_version {
inline constexpr unsigned oldest_supported = 19;  // CUDA 12.0: CUpti_ActivityKernel9
inline constexpr unsigned can_be_left = 24;       // CUDA 12.6: see known_defects
inline constexpr unsigned has_append_mode =
    26;  // CUDA 12.8: CUpti_PmSampling_SetConfig_Params::hwBufferAppendMode
inline constexpr unsigned has_copy_count = 26;  // CUDA 12.8: CUpti_ActivityMemcpy6
inline constexpr unsigned refuses_null_buffers =
    27;  // CUDA 12.9: a null buffer drops records instead of crashing
inline constexpr unsigned cuda_13_0 = 130000;
}  // namespace cupti_version

/// Returns for example "12.8" or "13.0.1", or "CUPTI 21" for an unknown number.
std::string cupti_version_text(unsigned version);

}  // namespace gpuprof::guest
