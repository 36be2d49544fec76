// SPDX-License-Identifier: Apache-2.0
// A CUPTI client that samples a device from its injection to the end of the program: the calls in
// the order in which they work on a GPU. With REPLAY_CLIENT_MISUSE it breaks one of the rules, to
// see that noticed.
//
// REPLAY_CLIENT_OUTPUT     file for lines of samples, records of kernels, decodes and failures
// REPLAY_CLIENT_METRICS    names with commas between them
// REPLAY_CLIENT_INTERVAL   ns from one sample to the next; default 20000
// REPLAY_CLIENT_SAMPLES    in one image; default 256
// REPLAY_CLIENT_BUFFER     bytes of the hardware's buffer; default 64 MiB
// REPLAY_CLIENT_KEEP       "oldest": that buffer keeps the oldest samples
// REPLAY_CLIENT_DECODE_MS  a thread decodes that often; 0: all is decoded at the end; default 1
// REPLAY_CLIENT_DEVICE     index; default 0
// REPLAY_CLIENT_MISUSE     which rule to break (see misuse_is)
#include "replay/tests/client/calls.hpp"

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <dlfcn.h>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

/// The functions it needs, from the library that answers to this name in a real process.
struct functions {
#define MEMBER(name) decltype(&::name) name = nullptr;
#define ALL(X)                                    \
  X(cuptiActivityRegisterCallbacks)               \
  X(cuptiActivityEnable)                          \
  X(cuptiActivityFlushAll)                        \
  X(cuptiActivityGetNextRecord)                   \
  X(cuptiFinalize)                                \
  X(cuptiProfilerInitialize)                      \
  X(cuptiProfilerGetCounterAvailability)          \
  X(cuptiProfilerHostInitialize)                  \
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
  X(cuptiRangeProfilerGetCounterDataSize)         \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiPmSamplingGetCounterAvailability)        \
  X(cuptiPmSamplingEnable)                        \
  X(cuptiPmSamplingDisable)                       \
  X(cuptiPmSamplingSetConfig)                     \
  X(cuptiPmSamplingStart)                         \
  X(cuptiPmSamplingStop)                          \
  X(cuptiPmSamplingDecodeData)                    \
  X(cuptiPmSamplingGetCounterDataSize)            \
  X(cuptiPmSamplingCounterDataImageInitialize)    \
  X(cuptiPmSamplingGetCounterDataInfo)            \
  X(cuptiPmSamplingCounterDataGetSampleInfo)
  ALL(MEMBER)
#undef MEMBER
} cupti;

/// A set of metrics for one engine, as the host API makes it.
struct configuration {
  CUpti_Profiler_Host_Object* host = nullptr;
  std::vector<std::uint8_t> image;
};

std::vector<std::string> metrics;
std::vector<char const*> names;
std::size_t device = 0;

std::mutex lock;  // protects all below once the decoding thread runs
CUpti_PmSampling_Object* sampler = nullptr;
configuration sampling;
std::vector<std::uint8_t> image, blank;
bool started = false;
std::atomic<bool> ending{false};
std::thread decoding;

std::uint64_t number(char const* name, char const* otherwise) {
  return std::stoull(variable(name, otherwise));
}

bool configure(configuration& made, CUpti_ProfilerType engine, std::uint8_t const* available,
               std::vector<char const*> const& wanted) {
  auto initialize = PARAMS(CUpti_Profiler_Host_Initialize_Params);
  initialize.profilerType = engine;
  initialize.pChipName = "GH100";
  initialize.pCounterAvailabilityImage = available;
  if (!WORKS(cuptiProfilerHostInitialize, initialize)) return false;
  made.host = initialize.pHostObject;
  auto add = PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  add.pHostObject = made.host;
  add.ppMetricNames = const_cast<char const**>(wanted.data());
  add.numMetrics = wanted.size();
  if (!WORKS(cuptiProfilerHostConfigAddMetrics, add)) return false;
  auto size = PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = made.host;
  if (!WORKS(cuptiProfilerHostGetConfigImageSize, size)) return false;
  made.image.resize(size.configImageSize);
  auto get = PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
  get.pHostObject = made.host;
  get.configImageSize = made.image.size();
  get.pConfigImage = made.image.data();
  if (!WORKS(cuptiProfilerHostGetConfigImage, get)) return false;
  auto count = PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);
  count.configImageSize = made.image.size();
  count.pConfigImage = made.image.data();
  if (!WORKS(cuptiProfilerHostGetNumOfPasses, count)) return false;
  std::fprintf(output, "passes=%zu\n", count.numOfPasses);
  return true;
}

std::vector<std::uint8_t> availability() {
  auto ask = PARAMS(CUpti_PmSampling_GetCounterAvailability_Params);
  ask.deviceIndex = device;
  if (!WORKS(cuptiPmSamplingGetCounterAvailability, ask)) return {};
  std::vector<std::uint8_t> bytes(ask.counterAvailabilityImageSize);
  ask.pCounterAvailabilityImage = bytes.data();
  WORKS(cuptiPmSamplingGetCounterAvailability, ask);
  return bytes;
}

template <class Params>
Params of_sampler(std::size_t size) {
  auto params = sized<Params>(size);
  params.pPmSamplingObject = sampler;
  return params;
}
#define SAMPLER_PARAMS(type) of_sampler<type>(type##_STRUCT_SIZE)

bool call_enable() {
  auto enable = PARAMS(CUpti_PmSampling_Enable_Params);
  enable.deviceIndex = device;
  if (misuse_is("wrong size")) --enable.structSize;
  if (misuse_is("no such device")) enable.deviceIndex = 99;
  if (!WORKS(cuptiPmSamplingEnable, enable)) return false;
  sampler = enable.pPmSamplingObject;
  return true;
}

bool call_set_config() {
  auto set = SAMPLER_PARAMS(CUpti_PmSampling_SetConfig_Params);
  set.configSize = sampling.image.size();
  set.pConfig = sampling.image.data();
  set.hardwareBufferSize = number("REPLAY_CLIENT_BUFFER", "67108864");
  set.samplingInterval = number("REPLAY_CLIENT_INTERVAL", "20000");
  set.triggerMode = misuse_is("trigger by clock")
                        ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL
                        : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  set.hwBufferAppendMode = variable("REPLAY_CLIENT_KEEP") == "oldest"
                               ? CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST
                               : CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST;
  if (misuse_is("no interval")) set.samplingInterval = 0;
  return WORKS(cuptiPmSamplingSetConfig, set);
}

bool call_start() {
  auto start = SAMPLER_PARAMS(CUpti_PmSampling_Start_Params);
  return WORKS(cuptiPmSamplingStart, start);
}

bool call_stop() {
  auto stop = SAMPLER_PARAMS(CUpti_PmSampling_Stop_Params);
  return WORKS(cuptiPmSamplingStop, stop);
}

bool call_disable() {
  auto disable = SAMPLER_PARAMS(CUpti_PmSampling_Disable_Params);
  return WORKS(cuptiPmSamplingDisable, disable);
}

std::size_t size_of_image() {
  auto size = SAMPLER_PARAMS(CUpti_PmSampling_GetCounterDataSize_Params);
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxSamples = static_cast<std::uint32_t>(number("REPLAY_CLIENT_SAMPLES", "256"));
  WORKS(cuptiPmSamplingGetCounterDataSize, size);
  return size.counterDataSize;
}

bool make_images() {
  blank.resize(size_of_image());
  auto initialize = SAMPLER_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params);
  initialize.counterDataSize = blank.size();
  initialize.pCounterData = blank.data();
  if (misuse_is("small image")) initialize.counterDataSize = 64;
  if (!misuse_is("image not initialized") &&
      !WORKS(cuptiPmSamplingCounterDataImageInitialize, initialize))
    return false;
  image = blank;
  return true;
}

void print_samples() {
  auto info = PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params);
  info.pCounterDataImage = image.data();
  info.counterDataImageSize = image.size();
  if (!WORKS(cuptiPmSamplingGetCounterDataInfo, info)) return;
  for (std::size_t i = 0; i < info.numCompletedSamples; ++i) {
    auto sample = SAMPLER_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo_Params);
    sample.pCounterDataImage = image.data();
    sample.counterDataImageSize = image.size();
    sample.sampleIndex = i;
    if (!WORKS(cuptiPmSamplingCounterDataGetSampleInfo, sample)) return;
    std::vector<double> values(names.size());
    auto evaluate = PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    evaluate.pHostObject = sampling.host;
    evaluate.pCounterDataImage = image.data();
    evaluate.counterDataImageSize = image.size();
    evaluate.rangeIndex = i;
    evaluate.ppMetricNames = names.data();
    evaluate.numMetrics = names.size();
    evaluate.pMetricValues = values.data();
    if (!WORKS(cuptiProfilerHostEvaluateToGpuValues, evaluate)) return;
    std::ostringstream line;  // in one piece: libcupti's thread writes records meanwhile
    line.precision(17);
    line << "sample " << sample.startTimestamp << ' ' << sample.endTimestamp;
    for (double const value : values) line << ' ' << value;
    std::fprintf(output, "%s\n", line.str().c_str());
  }
}

/// One image full of samples; false when that were the last, for now.
bool decode() {
  auto decode = SAMPLER_PARAMS(CUpti_PmSampling_DecodeData_Params);
  decode.pCounterDataImage = image.data();
  decode.counterDataImageSize = image.size();
  bool const worked = WORKS(cuptiPmSamplingDecodeData, decode);
  std::fprintf(output, "decode %d %d\n", decode.decodeStopReason, decode.overflow);
  if (!worked) return false;
  print_samples();
  // A copy of a blank image is an initialized one.
  if (!misuse_is("full image")) std::memcpy(image.data(), blank.data(), blank.size());
  return decode.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
}

void decode_now_and_then(std::uint64_t every_ms) {
  while (!ending) {
    std::this_thread::sleep_for(std::chrono::milliseconds(every_ms));
    std::lock_guard const hold(lock);
    while (decode() && !ending) {  // a slow one never comes to the last
    }
  }
}

/// A range session of the first context, set up and started.
CUpti_RangeProfiler_Object* start_ranges() {
  static configuration ranges;
  static std::vector<std::uint8_t> data;
  static std::vector<char const*> wanted{"lts__t_bytes.sum"};
  if (!configure(ranges, CUPTI_PROFILER_TYPE_RANGE_PROFILER, nullptr, wanted)) return nullptr;
  auto enable = PARAMS(CUpti_RangeProfiler_Enable_Params);
  enable.ctx = reinterpret_cast<CUcontext>(0x1000);
  if (!WORKS(cuptiRangeProfilerEnable, enable)) return nullptr;
  auto* const object = enable.pRangeProfilerObject;
  auto size = PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
  size.pRangeProfilerObject = object;
  size.pMetricNames = wanted.data();
  size.numMetrics = size.maxNumOfRanges = size.maxNumRangeTreeNodes = 1;
  WORKS(cuptiRangeProfilerGetCounterDataSize, size);
  data.resize(size.counterDataSize);
  auto initialize = PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  initialize.pRangeProfilerObject = object;
  initialize.counterDataSize = data.size();
  initialize.pCounterData = data.data();
  WORKS(cuptiRangeProfilerCounterDataImageInitialize, initialize);
  auto set = PARAMS(CUpti_RangeProfiler_SetConfig_Params);
  set.pRangeProfilerObject = object;
  set.configSize = ranges.image.size();
  set.pConfig = ranges.image.data();
  set.counterDataImageSize = data.size();
  set.pCounterDataImage = data.data();
  set.range = CUPTI_UserRange;
  set.replayMode = CUPTI_UserReplay;
  set.maxRangesPerPass = set.numNestingLevels = set.minNestingLevel = set.targetNestingLevel = 1;
  WORKS(cuptiRangeProfilerSetConfig, set);
  auto start = PARAMS(CUpti_RangeProfiler_Start_Params);
  start.pRangeProfilerObject = object;
  WORKS(cuptiRangeProfilerStart, start);
  return object;
}

void end_ranges(CUpti_RangeProfiler_Object* object) {
  auto stop = PARAMS(CUpti_RangeProfiler_Stop_Params);
  stop.pRangeProfilerObject = object;
  WORKS(cuptiRangeProfilerStop, stop);
  auto disable = PARAMS(CUpti_RangeProfiler_Disable_Params);
  disable.pRangeProfilerObject = object;
  WORKS(cuptiRangeProfilerDisable, disable);
}

void start_beside_ranges() {
  auto* const ranges = start_ranges();
  call_set_config();
  availability();
  end_ranges(ranges);
}

void use_from_two_threads() {
  std::jthread const other([](std::stop_token const& end) {
    while (!end.stop_requested()) size_of_image();
  });
  for (int i = 0; i < 10'000'000; ++i) size_of_image();
}

void misuse_while_started() {
  if (misuse_is("start twice")) call_start();
  if (misuse_is("config while started")) call_set_config();
  if (misuse_is("disable while started")) call_disable();
  if (misuse_is("finalize")) cupti.cuptiFinalize();
  if (misuse_is("enable twice")) call_enable();
  if (misuse_is("start again")) {  // in order, though samples are lost
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    call_stop();
    call_start();
  }
  if (misuse_is("decode after config")) {
    call_stop();
    call_set_config();
    decode();
  }
  if (misuse_is("availability while started")) availability();
  if (misuse_is("range while started")) {
    start_ranges();
    auto ask = PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
    ask.ctx = reinterpret_cast<CUcontext>(0x1000);
    WORKS(cuptiProfilerGetCounterAvailability, ask);
  }
  if (misuse_is("full image")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    while (decode()) {
    }
  }
  if (misuse_is("two threads")) use_from_two_threads();
}

void start() {
  auto initialize = PARAMS(CUpti_Profiler_Initialize_Params);
  if (!misuse_is("not initialized") && !WORKS(cuptiProfilerInitialize, initialize)) return;
  auto const available = availability();
  if (available.empty() && !misuse_is("not initialized")) return;
  if (misuse_is("not initialized")) call_enable();
  if (!configure(sampling, CUPTI_PROFILER_TYPE_PM_SAMPLING, available.data(), names)) return;
  if (!call_enable()) return;
  if (misuse_is("start without config")) call_start();
  if (misuse_is("stop without start")) call_stop();
  if (misuse_is("sample beside ranges")) start_beside_ranges();
  if (!call_set_config() || !make_images()) return;
  if (misuse_is("decode before start")) decode();
  started = call_start();
  if (!started) return;
  misuse_while_started();
  if (auto const every = number("REPLAY_CLIENT_DECODE_MS", "1"); every != 0) {
    decoding = std::thread(decode_now_and_then, every);
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
    std::fprintf(output, "record %s %llu %llu %u %u\n", k.name,
                 static_cast<unsigned long long>(k.start), static_cast<unsigned long long>(k.end),
                 static_cast<unsigned>(k.gridX * k.gridY * k.gridZ),
                 static_cast<unsigned>(k.blockX * k.blockY * k.blockZ));
  }
  std::free(buffer);
}

void finish() {
  ending = true;
  if (decoding.joinable()) decoding.join();
  std::lock_guard const hold(lock);
  cupti.cuptiActivityFlushAll(1);
  if (started) {
    // The last kernel lies in samples that are complete.
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(2 * number("REPLAY_CLIENT_INTERVAL", "20000")));
    call_stop();
    while (decode()) {
    }
  }
  if (sampler != nullptr) call_disable();
  if (misuse_is("use after disable")) call_start();
  std::fclose(output);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  void* const library = dlopen("libcupti.so.13", RTLD_NOW);
  if (library == nullptr) return 0;
#define FIND(name) cupti.name = reinterpret_cast<decltype(cupti.name)>(dlsym(library, #name));
  ALL(FIND)
  output = std::fopen(variable("REPLAY_CLIENT_OUTPUT", "/dev/null").c_str(), "w");
  if (output == nullptr) return 0;
  std::istringstream wanted(variable("REPLAY_CLIENT_METRICS", "sm__cycles_active.avg"));
  for (std::string name; std::getline(wanted, name, ',');) metrics.push_back(name);
  for (auto const& name : metrics) names.push_back(name.c_str());
  device = number("REPLAY_CLIENT_DEVICE", "0");

  works(cupti.cuptiActivityRegisterCallbacks(request, complete), "cuptiActivityRegisterCallbacks");
  works(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
  start();
  std::atexit(finish);
  return 1;
}
