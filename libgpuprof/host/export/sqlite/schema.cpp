// SPDX-License-Identifier: Apache-2.0
#include "host/export/sqlite/schema.hpp"

namespace gpuprof::host {
namespace tables {

// Columns that begin with "gpuprof" are ours; readers of nsys' files pass over them.
#define WORK_BEGIN                                                                              \
  "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER " \
  "NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER"
#define LAUNCH "gpuprofLaunchStart INTEGER, gpuprofLaunchTid INTEGER, gpuprofRangeId INTEGER"

sqlite_table const string_ids{"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL"};

sqlite_table const kernel{
    "CUPTI_ACTIVITY_KIND_KERNEL",
    WORK_BEGIN
    ", demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER"
    ", launchType INTEGER, registersPerThread INTEGER NOT NULL"
    ", gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL"
    ", blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL"
    ", staticSharedMemory INTEGER, dynamicSharedMemory INTEGER"
    ", localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL"
    ", clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER, maxActiveClusters INTEGER"
    ", gpuprofArguments INTEGER, graphId INTEGER, graphNodeId INTEGER"
    ", " LAUNCH ", gpuprofTimeOf INTEGER",
    "greenContextId INTEGER, cacheConfig INTEGER, gridId INTEGER NOT NULL DEFAULT 0"
    ", sharedMemoryExecuted INTEGER, sharedMemoryLimitConfig INTEGER, qmdBulkReleaseDone INTEGER"
    ", qmdPreexitDone INTEGER, qmdLastCtaDone INTEGER, clusterSchedulingPolicy INTEGER"
    ", maxPotentialClusterSize INTEGER, sharedMemoryRequestedPercentage INTEGER"
    ", tensorSizeMinusOneElements TEXT NOT NULL DEFAULT ''"};

sqlite_table const memcpy{
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    WORK_BEGIN
    ", bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER"
    ", srcDeviceId INTEGER, dstDeviceId INTEGER, graphId INTEGER, graphNodeId INTEGER"
    ", virtualAddress INTEGER, copyCount INTEGER, gpuprofAsynchronous INTEGER, " LAUNCH,
    "greenContextId INTEGER, deprecatedSrcId INTEGER, srcContextId INTEGER, dstContextId INTEGER"
    ", migrationCause INTEGER"};

sqlite_table const memset{
    "CUPTI_ACTIVITY_KIND_MEMSET",
    WORK_BEGIN
    ", value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphId INTEGER, graphNodeId INTEGER"
    ", memKind INTEGER, gpuprofAsynchronous INTEGER, " LAUNCH,
    "greenContextId INTEGER"};

sqlite_table const graph_trace{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                               WORK_BEGIN ", graphId INTEGER NOT NULL, " LAUNCH,
                               "greenContextId INTEGER, graphExecId INTEGER"};

sqlite_table const runtime{
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER"
    ", correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL"
    ", gpuprofIsMade INTEGER",
    "callchainId INTEGER"};

sqlite_table const synchronization{
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    WORK_BEGIN
    ", syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, gpuprofReturnValue INTEGER NOT NULL",
    "greenContextId INTEGER, deprecatedSyncType INTEGER, eventSyncId INTEGER"};

sqlite_table const memory_usage{
    "CUDA_GPU_MEMORY_USAGE_EVENTS",
    "start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL"
    ", contextId INTEGER NOT NULL, address INTEGER NOT NULL, bytes INTEGER NOT NULL"
    ", memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, correlationId INTEGER"
    ", streamId INTEGER, localMemoryPoolAddress INTEGER, gpuprofAsynchronous INTEGER NOT NULL",
    "pc INTEGER NOT NULL DEFAULT 0, name TEXT, localMemoryPoolReleaseThreshold INTEGER"
    ", localMemoryPoolSize INTEGER, localMemoryPoolUtilizedSize INTEGER"
    ", importedMemoryPoolAddress INTEGER, importedMemoryPoolProcessId INTEGER"};

// A capture has no page faults; the reports of unified memory want the tables.
sqlite_table const cpu_page_faults{
    "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
    "start INTEGER NOT NULL, globalPid INTEGER NOT NULL, address INTEGER NOT NULL"
    ", originalFaultPc INTEGER, CpuInstruction INTEGER NOT NULL, module INTEGER NOT NULL"
    ", unresolvedFaultPc INTEGER"};
sqlite_table const gpu_page_faults{
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, globalPid INTEGER NOT NULL"
    ", deviceId INTEGER NOT NULL, address INTEGER NOT NULL, numberOfPageFaults INTEGER NOT NULL"
    ", faultAccessType INTEGER NOT NULL"};

// Ranges are numbered in order of their beginning, as `gpuprof stats` numbers them; other rows
// follow.
sqlite_table const nvtx_events{
    "NVTX_EVENTS",
    "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER"
    ", category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER"
    ", domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, jsonText TEXT",
    "textId INTEGER, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER"
    ", binaryData TEXT"};

sqlite_table const target_gpu{
    "TARGET_INFO_GPU",
    "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, l2CacheSize INTEGER"
    ", totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, uuid TEXT"
    ", chipName TEXT, cuDevice INTEGER, computeMajor INTEGER, computeMinor INTEGER"
    ", smMajor INTEGER, smMinor INTEGER",
    "isDiscrete INTEGER, pwGpuId INTEGER, luid INTEGER, ctxswDevPath TEXT, ctrlDevPath TEXT"
    ", revision INTEGER, nodeMask INTEGER, constantMemory INTEGER, maxIPC INTEGER"
    ", maxRegistersPerBlock INTEGER, maxShmemPerBlock INTEGER, maxShmemPerBlockOptin INTEGER"
    ", maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER, threadsPerWarp INTEGER"
    ", asyncEngines INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER"
    ", maxThreadsPerBlock INTEGER, maxBlockDimX INTEGER, maxBlockDimY INTEGER"
    ", maxBlockDimZ INTEGER, maxGridDimX INTEGER, maxGridDimY INTEGER, maxGridDimZ INTEGER"
    ", numaNodeId INTEGER"};
sqlite_table const target_cuda_device{
    "TARGET_INFO_CUDA_DEVICE",
    "gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT"
    ", numMultiprocessors INTEGER"};
sqlite_table const target_context{
    "TARGET_INFO_CUDA_CONTEXT_INFO",
    "vmId INTEGER NOT NULL, processId INTEGER NOT NULL, deviceId INTEGER NOT NULL"
    ", contextId INTEGER NOT NULL",
    "nullStreamId INTEGER NOT NULL DEFAULT 0, hwId INTEGER NOT NULL DEFAULT 0"
    ", parentContextId INTEGER, isGreenContext INTEGER"};
sqlite_table const target_session_start{"TARGET_INFO_SESSION_START_TIME",
                                        "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT"};
sqlite_table const target_system{
    "TARGET_INFO_SYSTEM_ENV",
    "globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, nameEnum INTEGER NOT NULL"
    ", value TEXT NOT NULL"};
sqlite_table const analysis_details{
    "ANALYSIS_DETAILS",
    "globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL"
    ", stopTime INTEGER NOT NULL"};
sqlite_table const meta_export{"META_DATA_EXPORT", "name TEXT NOT NULL, value TEXT"};
sqlite_table const meta_capture{"META_DATA_CAPTURE", "name TEXT NOT NULL, value TEXT"};
sqlite_table const processes{"PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT"};
sqlite_table const thread_names{"ThreadNames", "nameId INTEGER NOT NULL, globalTid INTEGER",
                                "priority INTEGER"};

sqlite_table const facts{"GPUPROF_FACTS", "key TEXT NOT NULL, value TEXT NOT NULL"};
sqlite_table const counters{"GPUPROF_COUNTERS", "name TEXT NOT NULL, value INTEGER NOT NULL"};
sqlite_table const losses{"GPUPROF_LOSSES", "missing TEXT NOT NULL"};
sqlite_table const windows{
    "GPUPROF_WINDOWS",
    "id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, end INTEGER, trigger TEXT NOT NULL"};
sqlite_table const clocks{"GPUPROF_CLOCKS", "time INTEGER NOT NULL, monotonicNs INTEGER NOT NULL"};
sqlite_table const metrics{
    "GPUPROF_METRICS",
    "id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, deviceId INTEGER NOT NULL"
    ", passGroup INTEGER, patchesKernel INTEGER NOT NULL, isSampled INTEGER NOT NULL"};
sqlite_table const readings{
    "GPUPROF_READINGS",
    "correlationId INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL"
    ", passGroup INTEGER NOT NULL, opened INTEGER NOT NULL, closed INTEGER NOT NULL"
    ", reading INTEGER, wholeGraph INTEGER NOT NULL"};
sqlite_table const reading_values{
    "GPUPROF_READING_VALUES",
    "correlationId INTEGER NOT NULL, metricId INTEGER NOT NULL, value REAL"};
sqlite_table const samples{
    "GPUPROF_SAMPLES",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, metricId INTEGER NOT NULL, value REAL"};
sqlite_table const sampling_windows{
    "GPUPROF_SAMPLING_WINDOWS",
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL"
    ", intervalNs INTEGER NOT NULL, samples INTEGER NOT NULL, overflows INTEGER NOT NULL"};
sqlite_table const peaks{
    "GPUPROF_PEAKS",
    "deviceId INTEGER NOT NULL, test TEXT NOT NULL, testGroup TEXT NOT NULL, title TEXT NOT NULL"
    ", unit TEXT NOT NULL, burst REAL, burstSpread REAL, burstSmClockMHz REAL, sustained REAL"
    ", sustainedSmClockMHz REAL, sustainedWatts REAL, theory REAL, perClock REAL"
    ", perClockTheory REAL, clock TEXT, limiters INTEGER NOT NULL, method TEXT, operands TEXT"
    ", measuredAt TEXT, remark TEXT"};
sqlite_table const kernel_code{
    "GPUPROF_KERNEL_CODE",
    "mangledName INTEGER NOT NULL PRIMARY KEY, sm INTEGER NOT NULL, instructions INTEGER NOT NULL"
    ", isComplete INTEGER NOT NULL, fmaInstructions INTEGER NOT NULL"
    ", fp32Operations INTEGER NOT NULL, fp16Operations INTEGER NOT NULL"};
sqlite_table const declared_work{"GPUPROF_DECLARED_WORK",
                                 "rangeId INTEGER NOT NULL, flops REAL, bytes REAL"};

sqlite_table const roofline{
    "GPUPROF_ROOFLINE",
    "id INTEGER NOT NULL PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL"
    ", gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER"
    ", blockZ INTEGER, arguments INTEGER, launches INTEGER NOT NULL, totalNs REAL NOT NULL"
    ", meanNs REAL, flopPerSecond REAL, flopPerSecondError REAL, flopSource TEXT NOT NULL"
    ", flopKnownShare REAL NOT NULL, dramBytesPerSecond REAL, dramBytesPerSecondError REAL"
    ", l2BytesPerSecond REAL, l2BytesPerSecondError REAL, flopPerDramByte REAL, clockHz REAL"
    ", occupancy REAL, tensorActive REAL, boundBy TEXT, shareOfRoof REAL, potentialGain REAL"};
sqlite_table const roofline_flops{
    "GPUPROF_ROOFLINE_FLOP",
    "id INTEGER NOT NULL, precision TEXT NOT NULL, flopPerSecond REAL NOT NULL"
    ", flopPerSecondError REAL, shareOfPeak REAL"};

#undef WORK_BEGIN
#undef LAUNCH

}  // namespace tables

std::span<sqlite_table const* const> all_sqlite_tables() noexcept {
  using namespace tables;
  static constexpr sqlite_table const* all[] = {&tables::string_ids,
                                                &kernel,
                                                &tables::memcpy,
                                                &tables::memset,
                                                &graph_trace,
                                                &runtime,
                                                &synchronization,
                                                &memory_usage,
                                                &cpu_page_faults,
                                                &gpu_page_faults,
                                                &nvtx_events,
                                                &target_gpu,
                                                &target_cuda_device,
                                                &target_context,
                                                &target_session_start,
                                                &target_system,
                                                &analysis_details,
                                                &meta_export,
                                                &meta_capture,
                                                &processes,
                                                &thread_names,
                                                &facts,
                                                &counters,
                                                &losses,
                                                &windows,
                                                &clocks,
                                                &metrics,
                                                &readings,
                                                &reading_values,
                                                &tables::samples,
                                                &sampling_windows,
                                                &peaks,
                                                &tables::kernel_code,
                                                &declared_work,
                                                &tables::roofline,
                                                &roofline_flops};
  return all;
}

std::span<std::string_view const> sqlite_indexes() noexcept {
  static constexpr std::string_view all[] = {
      "CREATE INDEX GPUPROF_KERNEL_CORRELATION ON CUPTI_ACTIVITY_KIND_KERNEL(correlationId)",
      "CREATE INDEX GPUPROF_KERNEL_START ON CUPTI_ACTIVITY_KIND_KERNEL(start)",
      "CREATE INDEX GPUPROF_MEMCPY_CORRELATION ON CUPTI_ACTIVITY_KIND_MEMCPY(correlationId)",
      "CREATE INDEX GPUPROF_MEMSET_CORRELATION ON CUPTI_ACTIVITY_KIND_MEMSET(correlationId)",
      "CREATE INDEX GPUPROF_RUNTIME_CORRELATION ON CUPTI_ACTIVITY_KIND_RUNTIME(correlationId)",
      "CREATE INDEX GPUPROF_NVTX_RANGE ON NVTX_EVENTS(rangeId)",
      "CREATE INDEX GPUPROF_NVTX_START ON NVTX_EVENTS(start)",
      "CREATE INDEX GPUPROF_VALUES_CORRELATION ON GPUPROF_READING_VALUES(correlationId)",
      "CREATE INDEX GPUPROF_SAMPLES_METRIC ON GPUPROF_SAMPLES(metricId, start)"};
  return all;
}

}  // namespace gpuprof::host
