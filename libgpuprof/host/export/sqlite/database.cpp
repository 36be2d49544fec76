// SPDX-License-Identifier: Apache-2.0
#include "host/export/sqlite/database.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

namespace gpuprof::host {

namespace tables {

// Columns that begin with "gpuprof" are additions of gpuprof; readers of nsys' files ignore them.
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
    ", virtualAddress INTEGER, copyCount INTEGER, gpuprofAsynchronous INTEGER, " LAUNCH
    ", gpuprofTimeOf INTEGER",
    "greenContextId INTEGER, deprecatedSrcId INTEGER, srcContextId INTEGER, dstContextId INTEGER"
    ", migrationCause INTEGER"};

sqlite_table const memset{
    "CUPTI_ACTIVITY_KIND_MEMSET",
    WORK_BEGIN
    ", value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphId INTEGER, graphNodeId INTEGER"
    ", memKind INTEGER, gpuprofAsynchronous INTEGER, " LAUNCH ", gpuprofTimeOf INTEGER",
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

// A capture has no page faults, but the reports on unified memory need the tables.
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

// Ranges are numbered in order of their beginning, as in `gpuprof stats`; other rows follow.
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
    ", occupancy REAL, tensorActive REAL, boundBy TEXT, shareOfRoof REAL, belowRoof REAL"};
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

namespace {

// These settings give up safety if the machine crashes during the export; the temporary file name
// makes up for that. The file is not in WAL mode, so that it can be read from a place without write
// access.
constexpr char settings[] =
    "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16384; BEGIN";

// Number of SQLite's virtual machine instructions between two checks for an interruption.
constexpr int look_interval = 100'000;

/// Returns the names in "id INTEGER PRIMARY KEY, value TEXT".
std::vector<std::string> names_in(std::string_view columns) {
  std::vector<std::string> names;
  while (!columns.empty()) {
    auto const begin = columns.find_first_not_of(' ');
    names.emplace_back(columns.substr(begin, columns.find(' ', begin) - begin));
    auto const comma = columns.find(',');
    columns = comma == std::string_view::npos ? std::string_view{} : columns.substr(comma + 1);
  }
  return names;
}

std::string insertion_into(sqlite_table const& table, bool numbered) {
  std::string names = numbered ? "rowid" : "", places = numbered ? "?" : "";
  for (auto const& name : names_in(table.columns)) {
    names += (names.empty() ? "" : ", ") + name;
    places += places.empty() ? "?" : ",?";
  }
  return "INSERT INTO " + std::string(table.name) + "(" + names + ") VALUES(" + places + ")";
}

}  // namespace

database::database(std::string const& path) {
  auto const status =
      sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  // If the constructor throws, the destructor is not called.
  std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> opened(handle_, sqlite3_close_v2);
  if (status != SQLITE_OK) fail();
  run(settings);
  static_cast<void>(opened.release());
}

database::~database() {
  sqlite3_close_v2(handle_);
}

void database::run(std::string const& statement) {
  if (sqlite3_exec(handle_, statement.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void database::interrupt_when(bool (*asked)() noexcept) {
  sqlite3_progress_handler(
      handle_, look_interval,
      [](void* question) { return reinterpret_cast<bool (*)() noexcept>(question)() ? 1 : 0; },
      reinterpret_cast<void*>(asked));
}

void database::fail() const {
  if (handle_ == nullptr) throw sqlite_failure{"out of memory"};
  auto const code = sqlite3_errcode(handle_);
  // SQLite only says "disk I/O error"; the system knows the cause.
  auto const system = code == SQLITE_IOERR ? sqlite3_system_errno(handle_) : 0;
  throw sqlite_failure{code == SQLITE_FULL ? std::strerror(ENOSPC)
                       : system != 0       ? std::strerror(system)
                                           : sqlite3_errmsg(handle_)};
}

insertion::insertion(database& into, sqlite_table const& table, bool numbered) : into_(&into) {
  auto const text = insertion_into(table, numbered);
  sqlite3_stmt* made = nullptr;
  check(sqlite3_prepare_v3(into.handle(), text.c_str(), static_cast<int>(text.size()),
                           SQLITE_PREPARE_PERSISTENT, &made, nullptr));
  made_.reset(made);
}

void insertion::bind(int place, std::string_view text) {
  auto const* const bytes = text.data() == nullptr ? "" : text.data();  // else bound as NULL
  if (std::memchr(bytes, 0, text.size()) == nullptr) {
    check(sqlite3_bind_text64(made_.get(), place, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8));
    return;
  }
  std::string without;
  for (char const c : text) c == '\0' ? without += "\xef\xbf\xbd" : without += c;
  check(sqlite3_bind_text64(made_.get(), place, without.data(), without.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
}

void insertion::add() {
  auto const status = sqlite3_step(made_.get());
  if (status != SQLITE_DONE) into_->fail();
  check(sqlite3_reset(made_.get()));
  ++rows_;
}

}  // namespace gpuprof::host
