// SPDX-License-Identifier: Apache-2.0
// A CUPTI client that counts around each launch, as a library to inject: the calls in the order in
// which they work on a GPU. With REPLAY_CLIENT_MISUSE it breaks one of the rules, to see that
// noticed.
//
// REPLAY_CLIENT_OUTPUT    file for lines of launches, records of kernels, ranges and failures
// REPLAY_CLIENT_METRICS   names with commas between them
// REPLAY_CLIENT_UNTRACED  no kernel records while a range is open
// REPLAY_CLIENT_RANGES    how many to count at most; default 1000
// REPLAY_CLIENT_MISUSE    which rule to break (see misuse_is)
#include "replay/tests/client/calls.hpp"

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// The functions it needs, from the library that answers to this name in a real process.
struct functions {
#define MEMBER(name) decltype(&::name) name = nullptr;
#define ALL(X)                                    \
  X(cuptiActivityRegisterCallbacks)               \
  X(cuptiActivityDisable)                         \
  X(cuptiActivityEnable)                          \
  X(cuptiActivityFlushAll)                        \
  X(cuptiActivityGetNextRecord)                   \
  X(cuptiSubscribe)                               \
  X(cuptiEnableDomain)                            \
  X(cuptiFinalize)                                \
  X(cuptiProfilerInitialize)                      \
  X(cuptiProfilerDeInitialize)                    \
  X(cuptiProfilerDeviceSupported)                 \
  X(cuptiProfilerGetCounterAvailability)          \
  X(cuptiProfilerHostInitialize)                  \
  X(cuptiProfilerHostDeinitialize)                \
  X(cuptiProfilerHostConfigAddMetrics)            \
  X(cuptiProfilerHostGetConfigImageSize)          \
  X(cuptiProfilerHostGetConfigImage)              \
  X(cuptiProfilerHostGetNumOfPasses)              \
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
  ALL(MEMBER)
#undef MEMBER
} cupti;

std::mutex lock;  // protects all below; held from the entry of a call to its exit
thread_local std::unique_lock<std::mutex> call_of_thread(lock, std::defer_lock);
CUpti_Profiler_Host_Object* host = nullptr;
CUpti_RangeProfiler_Object* profiler = nullptr;
std::vector<std::string> metrics;
std::vector<char const*> names;
std::vector<std::uint8_t> config, data;
std::size_t passes = 0, pass = 0, pushed = 0, most = 1000;
bool tried = false, started = false, running = false, is_open = false, finished = false;

void finish();

bool make_config(CUcontext context) {
  auto availability = PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
  availability.ctx = context;
  if (!WORKS(cuptiProfilerGetCounterAvailability, availability)) return false;
  std::vector<std::uint8_t> available(availability.counterAvailabilityImageSize);
  availability.pCounterAvailabilityImage = available.data();
  if (!WORKS(cuptiProfilerGetCounterAvailability, availability)) return false;

  auto initialize = PARAMS(CUpti_Profiler_Host_Initialize_Params);
  initialize.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  initialize.pChipName = "GH100";
  initialize.pCounterAvailabilityImage = available.data();
  if (!WORKS(cuptiProfilerHostInitialize, initialize)) return false;
  std::atexit(finish);  // before the destructors of the library that has just been opened
  host = initialize.pHostObject;
  auto add = PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  add.pHostObject = host;
  add.ppMetricNames = names.data();
  add.numMetrics = names.size();
  if (!WORKS(cuptiProfilerHostConfigAddMetrics, add)) return false;
  auto size = PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = host;
  if (!WORKS(cuptiProfilerHostGetConfigImageSize, size)) return false;
  config.resize(size.configImageSize);
  auto image = PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
  image.pHostObject = host;
  image.configImageSize = config.size();
  image.pConfigImage = config.data();
  if (!WORKS(cuptiProfilerHostGetConfigImage, image)) return false;
  auto count = PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);
  count.configImageSize = config.size();
  count.pConfigImage = config.data();
  if (!WORKS(cuptiProfilerHostGetNumOfPasses, count)) return false;
  passes = count.numOfPasses;
  std::fprintf(output, "passes=%zu\n", passes);
  return true;
}

CUpti_RangeProfiler_SetConfig_Params configuration() {
  auto set = PARAMS(CUpti_RangeProfiler_SetConfig_Params);
  set.pRangeProfilerObject = profiler;
  set.configSize = config.size();
  set.pConfig = config.data();
  set.counterDataImageSize = data.size();
  set.pCounterDataImage = data.data();
  set.range = CUPTI_UserRange;
  set.replayMode = CUPTI_UserReplay;
  set.maxRangesPerPass = most;
  set.numNestingLevels = set.minNestingLevel = set.targetNestingLevel = 1;
  set.passIndex = pass;
  return set;
}

bool call_start() {
  auto start = PARAMS(CUpti_RangeProfiler_Start_Params);
  start.pRangeProfilerObject = profiler;
  return WORKS(cuptiRangeProfilerStart, start);
}
bool call_push(char const* name) {
  auto push = PARAMS(CUpti_RangeProfiler_PushRange_Params);
  push.pRangeProfilerObject = profiler;
  push.pRangeName = name;
  return WORKS(cuptiRangeProfilerPushRange, push);
}
bool call_pop() {
  auto pop = PARAMS(CUpti_RangeProfiler_PopRange_Params);
  pop.pRangeProfilerObject = profiler;
  return WORKS(cuptiRangeProfilerPopRange, pop);
}
CUpti_RangeProfiler_Stop_Params call_stop() {
  auto stop = PARAMS(CUpti_RangeProfiler_Stop_Params);
  stop.pRangeProfilerObject = profiler;
  WORKS(cuptiRangeProfilerStop, stop);
  return stop;
}

/// What CUPTI is asked while the GPU works holds every launch until it is idle.
void wait_for_gpu() {
  static auto const wait = reinterpret_cast<decltype(&cuCtxSynchronize)>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxSynchronize"));
  wait();
}

void start(CUcontext context) {
  tried = true;
  wait_for_gpu();
  auto initialize = PARAMS(CUpti_Profiler_Initialize_Params);
  if (misuse_is("wrong size")) --initialize.structSize;
  if (!misuse_is("not initialized") && !WORKS(cuptiProfilerInitialize, initialize)) return;
  if (!make_config(context)) return;
  auto enable = PARAMS(CUpti_RangeProfiler_Enable_Params);
  enable.ctx = context;
  if (!WORKS(cuptiRangeProfilerEnable, enable)) return;
  profiler = enable.pRangeProfilerObject;
  auto size = PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
  size.pRangeProfilerObject = profiler;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = most;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(most);
  if (!WORKS(cuptiRangeProfilerGetCounterDataSize, size)) return;
  data.resize(size.counterDataSize);
  auto image = PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  image.pRangeProfilerObject = profiler;
  image.counterDataSize = data.size();
  image.pCounterData = data.data();
  if (!misuse_is("image not initialized") &&
      !WORKS(cuptiRangeProfilerCounterDataImageInitialize, image))
    return;
  if (misuse_is("push without start")) call_push("0");
  if (misuse_is("start without config")) call_start();
  auto set = configuration();
  if (misuse_is("kernel replay")) set.replayMode = CUPTI_KernelReplay;
  if (!WORKS(cuptiRangeProfilerSetConfig, set)) return;
  if (!call_start()) return;
  started = running = true;
  if (misuse_is("start twice")) call_start();
  if (misuse_is("config while started")) WORKS(cuptiRangeProfilerSetConfig, set);
  if (misuse_is("pop without push")) call_pop();
  if (misuse_is("decode while started")) {
    auto decode = PARAMS(CUpti_RangeProfiler_DecodeData_Params);
    decode.pRangeProfilerObject = profiler;
    WORKS(cuptiRangeProfilerDecodeData, decode);
  }
  if (misuse_is("disable while started")) {
    auto disable = PARAMS(CUpti_RangeProfiler_Disable_Params);
    disable.pRangeProfilerObject = profiler;
    WORKS(cuptiRangeProfilerDisable, disable);
  }
  if (misuse_is("finalize")) cupti.cuptiFinalize();
  if (misuse_is("second context")) {
    auto other = PARAMS(CUpti_RangeProfiler_Enable_Params);
    other.ctx = reinterpret_cast<CUcontext>(reinterpret_cast<char*>(context) + 0x1000);
    WORKS(cuptiRangeProfilerEnable, other);
    auto again = configuration();
    std::vector<std::uint8_t> its_own(data);
    again.pCounterDataImage = its_own.data();
    again.pRangeProfilerObject = other.pRangeProfilerObject;
    WORKS(cuptiRangeProfilerSetConfig, again);
    auto begin = PARAMS(CUpti_RangeProfiler_Start_Params);
    begin.pRangeProfilerObject = other.pRangeProfilerObject;
    WORKS(cuptiRangeProfilerStart, begin);
  }
}

void next_pass() {
  auto const stopped = call_stop();
  pass = stopped.passIndex;
  pushed = 0;
  running = !stopped.isAllPassSubmitted && call_start();
}

void print_ranges() {
  auto decode = PARAMS(CUpti_RangeProfiler_DecodeData_Params);
  decode.pRangeProfilerObject = profiler;
  if (!WORKS(cuptiRangeProfilerDecodeData, decode)) return;
  std::fprintf(output, "dropped=%zu\n", decode.numOfRangeDropped);
  auto info = PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
  info.pCounterDataImage = data.data();
  info.counterDataImageSize = data.size();
  if (!WORKS(cuptiRangeProfilerGetCounterDataInfo, info)) return;
  for (std::size_t i = 0; i < info.numTotalRanges; ++i) {
    auto range = PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
    range.pCounterDataImage = data.data();
    range.counterDataImageSize = data.size();
    range.rangeIndex = i;
    range.rangeDelimiter = "/";
    if (!WORKS(cuptiRangeProfilerCounterDataGetRangeInfo, range)) return;
    std::vector<double> values(names.size());
    auto evaluate = PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    evaluate.pHostObject = host;
    evaluate.pCounterDataImage = data.data();
    evaluate.counterDataImageSize = data.size();
    evaluate.rangeIndex = i;
    evaluate.ppMetricNames = names.data();
    evaluate.numMetrics = names.size();
    evaluate.pMetricValues = values.data();
    if (!WORKS(cuptiProfilerHostEvaluateToGpuValues, evaluate)) return;
    std::fprintf(output, "range %s", range.rangeName);
    for (double const value : values) std::fprintf(output, " %.17g", value);
    std::fprintf(output, "\n");
  }
}

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *size = 1 << 16;
  *max_records = 0;
  *buffer = static_cast<std::uint8_t*>(std::calloc(1, *size));
}

void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                       std::size_t used) {
  CUpti_Activity* record = nullptr;
  while (cupti.cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS) {
    auto const& k = *reinterpret_cast<CUpti_ActivityKernel10 const*>(record);
    std::fprintf(output, "record %u %s %llu\n", k.correlationId, k.name,
                 static_cast<unsigned long long>(k.end - k.start));
  }
  std::free(buffer);
}

void finish() {
  std::lock_guard const hold(lock);
  if (std::exchange(finished, true)) return;
  wait_for_gpu();
  cupti.cuptiActivityFlushAll(1);
  if (running && is_open) call_pop();  // its launch never returned
  if (running) call_stop();
  running = false;
  if (profiler != nullptr) {
    if (started) print_ranges();
    auto disable = PARAMS(CUpti_RangeProfiler_Disable_Params);
    disable.pRangeProfilerObject = profiler;
    WORKS(cuptiRangeProfilerDisable, disable);
    if (misuse_is("use after disable")) call_start();
    auto end = PARAMS(CUpti_Profiler_DeInitialize_Params);
    WORKS(cuptiProfilerDeInitialize, end);
    if (misuse_is("deinitialize twice")) WORKS(cuptiProfilerDeInitialize, end);
  }
  if (host != nullptr) {
    auto release = PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
    release.pHostObject = host;
    WORKS(cuptiProfilerHostDeinitialize, release);
  }
  std::fclose(output);
}

void change_metrics() {
  call_stop();
  auto set = configuration();
  set.passIndex = 0;
  auto image = PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
  char const* others[] = {"lts__t_bytes.sum"};
  auto initialize = PARAMS(CUpti_Profiler_Host_Initialize_Params);
  initialize.pChipName = "GH100";
  WORKS(cuptiProfilerHostInitialize, initialize);
  auto add = PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  add.pHostObject = image.pHostObject = initialize.pHostObject;
  add.ppMetricNames = others;
  add.numMetrics = 1;
  WORKS(cuptiProfilerHostConfigAddMetrics, add);
  std::vector<std::uint8_t> other(4096);
  image.pConfigImage = other.data();
  image.configImageSize = other.size();
  WORKS(cuptiProfilerHostGetConfigImage, image);
  auto size = PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = initialize.pHostObject;
  WORKS(cuptiProfilerHostGetConfigImageSize, size);
  set.pConfig = other.data();
  set.configSize = size.configImageSize;
  WORKS(cuptiRangeProfilerSetConfig, set);
}

bool waits_for_busy_gpu() {
  return variable("REPLAY_CLIENT_MISUSE").ends_with("while busy");
}

/// A launch is about to be entered that is to keep the GPU busy.
void prepare_misuse_while_busy() {
  if (misuse_is("start while busy") || misuse_is("disable while busy")) call_stop();
}

/// Its kernel runs.
void misuse_while_busy() {
  if (misuse_is("start while busy")) call_start();
  if (misuse_is("push while busy")) call_push("0");
  if (misuse_is("stop while busy")) call_stop();
  if (misuse_is("disable while busy")) {
    auto disable = PARAMS(CUpti_RangeProfiler_Disable_Params);
    disable.pRangeProfilerObject = profiler;
    WORKS(cuptiRangeProfilerDisable, disable);
  }
}

void use_from_two_threads() {
  std::thread other([] { call_push("other"); });
  call_push("own");
  other.join();
}

void describe(CUpti_CallbackData const& call, CUfunction function, unsigned blocks,
              unsigned threads, unsigned shared) {
  std::fprintf(output, "launch %u %s %p %u %u %u\n", call.correlationId, call.symbolName,
               static_cast<void*>(function), blocks, threads, shared);
}

void describe(CUpti_CallbackData const& call, CUpti_CallbackId id) {
  if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
    auto const& p = *static_cast<cuLaunchKernel_params const*>(call.functionParams);
    describe(call, p.f, p.gridDimX * p.gridDimY * p.gridDimZ,
             p.blockDimX * p.blockDimY * p.blockDimZ, p.sharedMemBytes);
  } else if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx) {
    auto const& p = *static_cast<cuLaunchKernelEx_params const*>(call.functionParams);
    auto const& c = *p.config;
    describe(call, p.f, c.gridDimX * c.gridDimY * c.gridDimZ,
             c.blockDimX * c.blockDimY * c.blockDimZ, c.sharedMemBytes);
  } else if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel) {
    auto const& p = *static_cast<cuLaunchCooperativeKernel_params const*>(call.functionParams);
    std::fprintf(output, "cooperative %u\n", p.gridDimX);
  }
}

bool is_capturing() {
  static auto const ask = reinterpret_cast<decltype(&cuStreamIsCapturing)>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuStreamIsCapturing"));
  CUstreamCaptureStatus status{};
  return ask(nullptr, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

constexpr auto recorded = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
bool untraced() {
  return !variable("REPLAY_CLIENT_UNTRACED").empty();
}

void open_range() {
  auto const name = std::to_string(pushed);
  wait_for_gpu();
  is_open = call_push(misuse_is("same name") ? "same" : name.c_str());
  ++pushed;
}

void launch_begins(CUpti_CallbackData const& call, CUpti_CallbackId id) {
  if (!tried) start(call.context);
  if (!running || (passes == 1 && pushed >= most + 2)) return;
  if (waits_for_busy_gpu() && !misuse_is("pop while busy")) return prepare_misuse_while_busy();
  describe(call, id);
  if (is_capturing()) return;
  if (misuse_is("two threads")) return use_from_two_threads();
  if (untraced()) works(cupti.cuptiActivityDisable(recorded), "cuptiActivityDisable");
  open_range();
  if (misuse_is("push twice")) call_push("more");
  if (misuse_is("stop in range")) call_stop();
}

void launch_ends() {
  if (!is_open) return misuse_while_busy();
  is_open = false;
  if (!misuse_is("pop while busy")) wait_for_gpu();
  call_pop();
  if (misuse_is("other metrics")) change_metrics();
  if (passes > 1 && pushed == 1) next_pass();  // one launch each
  if (untraced()) works(cupti.cuptiActivityEnable(recorded), "cuptiActivityEnable");
}

bool is_launch(CUpti_CallbackId id) {
  return id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel ||
         id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch;
}

/// One call at a time: any may put work on the GPU, and a range holds that of its launch alone.
void CUPTIAPI callback(void*, CUpti_CallbackDomain, CUpti_CallbackId id, void const* given) {
  auto const& call = *static_cast<CUpti_CallbackData const*>(given);
  if (call.callbackSite == CUPTI_API_ENTER) {
    call_of_thread.lock();
    if (is_launch(id)) launch_begins(call, id);
  } else if (call_of_thread.owns_lock()) {
    if (is_launch(id)) launch_ends();
    call_of_thread.unlock();
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  void* const library = dlopen("libcupti.so.13", RTLD_NOW);
  if (library == nullptr) return 0;
#define FIND(name) cupti.name = reinterpret_cast<decltype(cupti.name)>(dlsym(library, #name));
  ALL(FIND)
  output = std::fopen(variable("REPLAY_CLIENT_OUTPUT", "/dev/null").c_str(), "w");
  if (output == nullptr) return 0;
  std::istringstream wanted(variable("REPLAY_CLIENT_METRICS", "gpu__time_duration.sum"));
  for (std::string name; std::getline(wanted, name, ',');) metrics.push_back(name);
  for (auto const& name : metrics) names.push_back(name.c_str());
  most = std::stoul(variable("REPLAY_CLIENT_RANGES", "1000"));

  CUpti_SubscriberHandle subscriber = nullptr;
  works(cupti.cuptiSubscribe(&subscriber, reinterpret_cast<CUpti_CallbackFunc>(&callback), nullptr),
        "cuptiSubscribe");
  works(cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API), "cuptiEnableDomain");
  works(cupti.cuptiActivityRegisterCallbacks(request, complete), "cuptiActivityRegisterCallbacks");
  works(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
  std::atexit(finish);
  return 1;
}
