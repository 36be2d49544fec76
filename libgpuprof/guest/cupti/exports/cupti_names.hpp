// SPDX-License-Identifier: Apache-2.0
// Names of CUPTI's functions, CUDA 12.0 to 13.5, grouped by what a call of the program means for
// us.
#pragma once

// clang-format off
// CUPTI has one state of these for all clients; program_calls.cpp has a separate one for each
// client.
#define GPUPROF_SHARED_FUNCTIONS(X)         \
  X(cuptiSubscribe)                         \
  X(cuptiSubscribe_v2)                      \
  X(cuptiUnsubscribe)                       \
  X(cuptiEnableCallback)                    \
  X(cuptiEnableDomain)                      \
  X(cuptiEnableAllDomains)                  \
  X(cuptiGetCallbackState)                  \
  X(cuptiActivityRegisterCallbacks)         \
  X(cuptiActivityEnable)                    \
  X(cuptiActivityDisable)                   \
  X(cuptiActivityEnableContext)             \
  X(cuptiActivityDisableContext)            \
  X(cuptiActivityEnableRuntimeApi)          \
  X(cuptiActivityEnableDriverApi)           \
  X(cuptiActivityFlushAll)                  \
  X(cuptiActivityFlushPeriod)               \
  X(cuptiActivityRegisterTimestampCallback) \
  X(cuptiFinalize)

// These change nothing: a program that calls only these is not a client.
#define GPUPROF_CUPTI_QUERIES(X)                 \
  X(cuptiGetVersion)                             \
  X(cuptiGetResultString)                        \
  X(cuptiGetErrorMessage)                        \
  X(cuptiGetLastError)                           \
  X(cuptiGetTimestamp)                           \
  X(cuptiGetCallbackName)                        \
  X(cuptiGetThreadIdType)                        \
  X(cuptiGetDeviceId)                            \
  X(cuptiGetContextId)                           \
  X(cuptiGetStreamId)                            \
  X(cuptiGetStreamIdEx)                          \
  X(cuptiGetGraphId)                             \
  X(cuptiGetGraphNodeId)                         \
  X(cuptiGetGraphExecId)                         \
  X(cuptiGetCubinCrc)                            \
  X(cuptiGetSassToSourceCorrelation)             \
  X(cuptiGetAutoBoostState)                      \
  X(cuptiGetGlobalCallbackState)                 \
  X(cuptiGetNumContexts)                         \
  X(cuptiGetRecommendedBufferSize)               \
  X(cuptiSupportedDomains)                       \
  X(cuptiComputeCapabilitySupported)             \
  X(cuptiDeviceSupported)                        \
  X(cuptiDeviceVirtualizationMode)               \
  X(cuptiDeviceGetChipName)                      \
  X(cuptiStateQuery)                             \
  X(cuptiActivityGetNextRecord)                  \
  X(cuptiActivityGetNumDroppedRecords)           \
  X(cuptiActivityGetAttribute)                   \
  X(cuptiActivityGetNvtxExtPayloadAttr)          \
  X(cuptiActivityGetNvtxExtPayloadEntryTypeInfo)

// These change or use state: a program that calls one of them is a client.
#define GPUPROF_CUPTI_STATEFUL(X)                            \
  X(cuptiActivityConfigurePCSampling)                        \
  X(cuptiActivityConfigureUnifiedMemoryCounter)              \
  X(cuptiActivityEnableAllSyncRecords)                       \
  X(cuptiActivityEnableAndDump)                              \
  X(cuptiActivityEnableBufferSummary)                        \
  X(cuptiActivityEnableCudaEventDeviceTimestamps)            \
  X(cuptiActivityEnableDeviceGraph)                          \
  X(cuptiActivityEnableHWTrace)                              \
  X(cuptiActivityEnableLatencyTimestamps)                    \
  X(cuptiActivityEnableLaunchAttributes)                     \
  X(cuptiActivityEnableRawTimestamps)                        \
  X(cuptiActivityFlush)                                      \
  X(cuptiActivityPopExternalCorrelationId)                   \
  X(cuptiActivityPushExternalCorrelationId)                  \
  X(cuptiActivitySetAttribute)                               \
  X(cuptiDeviceEnumEventDomains)                             \
  X(cuptiDeviceEnumMetrics)                                  \
  X(cuptiDeviceGetAttribute)                                 \
  X(cuptiDeviceGetEventDomainAttribute)                      \
  X(cuptiDeviceGetNumEventDomains)                           \
  X(cuptiDeviceGetNumMetrics)                                \
  X(cuptiDisableKernelReplayMode)                            \
  X(cuptiDisableLibcuda)                                     \
  X(cuptiDisableNonOverlappingMode)                          \
  X(cuptiEnableCigMode)                                      \
  X(cuptiEnableKernelReplayMode)                             \
  X(cuptiEnableNonOverlappingMode)                           \
  X(cuptiEnumEventDomains)                                   \
  X(cuptiEnumMetrics)                                        \
  X(cuptiEventDomainEnumEvents)                              \
  X(cuptiEventDomainGetAttribute)                            \
  X(cuptiEventDomainGetNumEvents)                            \
  X(cuptiEventGetAttribute)                                  \
  X(cuptiEventGetIdFromName)                                 \
  X(cuptiEventGroupAddEvent)                                 \
  X(cuptiEventGroupCreate)                                   \
  X(cuptiEventGroupDestroy)                                  \
  X(cuptiEventGroupDisable)                                  \
  X(cuptiEventGroupEnable)                                   \
  X(cuptiEventGroupGetAttribute)                             \
  X(cuptiEventGroupReadAllEvents)                            \
  X(cuptiEventGroupReadEvent)                                \
  X(cuptiEventGroupRemoveAllEvents)                          \
  X(cuptiEventGroupRemoveEvent)                              \
  X(cuptiEventGroupResetAllEvents)                           \
  X(cuptiEventGroupSetAttribute)                             \
  X(cuptiEventGroupSetDisable)                               \
  X(cuptiEventGroupSetEnable)                                \
  X(cuptiEventGroupSetsCreate)                               \
  X(cuptiEventGroupSetsDestroy)                              \
  X(cuptiGetNumEventDomains)                                 \
  X(cuptiGetNumMetrics)                                      \
  X(cuptiKernelReplaySubscribeUpdate)                        \
  X(cuptiMetricCreateEventGroupSets)                         \
  X(cuptiMetricEnumEvents)                                   \
  X(cuptiMetricEnumProperties)                               \
  X(cuptiMetricGetAttribute)                                 \
  X(cuptiMetricGetIdFromName)                                \
  X(cuptiMetricGetNumEvents)                                 \
  X(cuptiMetricGetNumProperties)                             \
  X(cuptiMetricGetRequiredEventGroupSets)                    \
  X(cuptiMetricGetValue)                                     \
  X(cuptiMetricGetValue2)                                    \
  X(cuptiNvtxExtensionInitialize)                            \
  X(cuptiNvtxInitialize)                                     \
  X(cuptiNvtxInitialize2)                                    \
  X(cuptiOpenACCInitialize)                                  \
  X(cuptiOpenMpInitialize)                                   \
  X(cuptiOpenMpInitialize_v2)                                \
  X(cuptiPCSamplingDisable)                                  \
  X(cuptiPCSamplingEnable)                                   \
  X(cuptiPCSamplingGetConfigurationAttribute)                \
  X(cuptiPCSamplingGetData)                                  \
  X(cuptiPCSamplingGetNumStallReasons)                       \
  X(cuptiPCSamplingGetStallReasons)                          \
  X(cuptiPCSamplingSetConfigurationAttribute)                \
  X(cuptiPCSamplingStart)                                    \
  X(cuptiPCSamplingStop)                                     \
  X(cuptiPmSamplingCounterDataGetSampleInfo)                 \
  X(cuptiPmSamplingCounterDataImageInitialize)               \
  X(cuptiPmSamplingDecodeData)                               \
  X(cuptiPmSamplingDisable)                                  \
  X(cuptiPmSamplingEnable)                                   \
  X(cuptiPmSamplingGetCounterAvailability)                   \
  X(cuptiPmSamplingGetCounterDataInfo)                       \
  X(cuptiPmSamplingGetCounterDataSize)                       \
  X(cuptiPmSamplingSetConfig)                                \
  X(cuptiPmSamplingStart)                                    \
  X(cuptiPmSamplingStop)                                     \
  X(cuptiProfilerBeginPass)                                  \
  X(cuptiProfilerBeginSession)                               \
  X(cuptiProfilerCounterDataImageCalculateScratchBufferSize) \
  X(cuptiProfilerCounterDataImageCalculateSize)              \
  X(cuptiProfilerCounterDataImageInitialize)                 \
  X(cuptiProfilerCounterDataImageInitializeScratchBuffer)    \
  X(cuptiProfilerDeInitialize)                               \
  X(cuptiProfilerDeviceSupported)                            \
  X(cuptiProfilerDisableProfiling)                           \
  X(cuptiProfilerEnableProfiling)                            \
  X(cuptiProfilerEndPass)                                    \
  X(cuptiProfilerEndSession)                                 \
  X(cuptiProfilerFlushCounterData)                           \
  X(cuptiProfilerGetCounterAvailability)                     \
  X(cuptiProfilerHostConfigAddMetrics)                       \
  X(cuptiProfilerHostDeinitialize)                           \
  X(cuptiProfilerHostEvaluateToGpuValues)                    \
  X(cuptiProfilerHostGetBaseMetrics)                         \
  X(cuptiProfilerHostGetConfigImage)                         \
  X(cuptiProfilerHostGetConfigImageSize)                     \
  X(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass)        \
  X(cuptiProfilerHostGetMetricProperties)                    \
  X(cuptiProfilerHostGetNumOfPasses)                         \
  X(cuptiProfilerHostGetSubMetrics)                          \
  X(cuptiProfilerHostGetSupportedChips)                      \
  X(cuptiProfilerHostInitialize)                             \
  X(cuptiProfilerInitialize)                                 \
  X(cuptiProfilerIsPassCollected)                            \
  X(cuptiProfilerPopRange)                                   \
  X(cuptiProfilerPushRange)                                  \
  X(cuptiProfilerSetConfig)                                  \
  X(cuptiProfilerUnsetConfig)                                \
  X(cuptiRangeProfilerCounterDataGetRangeInfo)               \
  X(cuptiRangeProfilerCounterDataImageInitialize)            \
  X(cuptiRangeProfilerDecodeData)                            \
  X(cuptiRangeProfilerDisable)                               \
  X(cuptiRangeProfilerEnable)                                \
  X(cuptiRangeProfilerGetCounterDataInfo)                    \
  X(cuptiRangeProfilerGetCounterDataSize)                    \
  X(cuptiRangeProfilerPopRange)                              \
  X(cuptiRangeProfilerPushRange)                             \
  X(cuptiRangeProfilerSetConfig)                             \
  X(cuptiRangeProfilerStart)                                 \
  X(cuptiRangeProfilerStop)                                  \
  X(cuptiRegisterComputeCrcCallback)                         \
  X(cuptiSassMetricsDisable)                                 \
  X(cuptiSassMetricsEnable)                                  \
  X(cuptiSassMetricsFlushData)                               \
  X(cuptiSassMetricsGetDataProperties)                       \
  X(cuptiSassMetricsGetMetrics)                              \
  X(cuptiSassMetricsGetNumOfMetrics)                         \
  X(cuptiSassMetricsGetProperties)                           \
  X(cuptiSassMetricsSetConfig)                               \
  X(cuptiSassMetricsUnsetConfig)                             \
  X(cuptiSetEventCollectionMode)                             \
  X(cuptiSetThreadIdType)

// The same two groups for CUPTI 13.1 and newer. They are not exported, because a program may test
// if CUPTI has them: only programs that find them in a libcupti get them.
#define GPUPROF_NEWER_QUERIES(X)          \
  X(cuptiGetTimestamp_v2)                 \
  X(cuptiGetCudaEventId)                  \
  X(cuptiGetEnabledCallbacks)             \
  X(cuptiIsTracingSessionRunning)         \
  X(cuptiActivityGetNextRecord_v2)        \
  X(cuptiActivityGetNumDroppedRecords_v2) \
  X(cuptiActivityGetAttribute_v2)         \
  X(cuptiActivityGetEnabledKinds)         \
  X(cuptiActivityGetStructSize)           \
  X(cuptiClockControlGetStatus)

#define GPUPROF_NEWER_STATEFUL(X)               \
  X(cuptiActivityDisable_v2)                    \
  X(cuptiActivityEnableAndDump_v2)              \
  X(cuptiActivityEnableDriverApi_v2)            \
  X(cuptiActivityEnableRawTimestamps_v2)        \
  X(cuptiActivityEnableRuntimeApi_v2)           \
  X(cuptiActivityEnable_v2)                     \
  X(cuptiActivityPopExternalCorrelationId_v2)   \
  X(cuptiActivityPushExternalCorrelationId_v2)  \
  X(cuptiActivityRegisterCallbacks_v2)          \
  X(cuptiActivitySetAttribute_v2)               \
  X(cuptiClockControlLock)                      \
  X(cuptiClockControlUnlock)                    \
  X(cuptiProfilerHostGetMetricsInSinglePassSet) \
  X(cuptiProfilerHostGetSinglePassSets)         \
  X(cuptiProfilerHostSetDevicePartitionInfo)    \
  X(cuptiRangeProfilerGetDevicePartitionInfo)   \
  X(cuptiActivityEnableAllocationSource)        \
  X(cuptiProfilerHostGetRangeName)
// clang-format on
