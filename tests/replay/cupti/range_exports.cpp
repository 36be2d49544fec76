// SPDX-License-Identifier: Apache-2.0
// The functions of libcupti.so.13 that count around what the program launches.
#include "replay/cupti/contract.hpp"
#include "replay/cupti/counter_hardware.hpp"
#include "replay/cupti/entry.hpp"
#include "replay/cupti/range_profiler.hpp"
#include "replay/format/machine.hpp"

#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

using namespace gpuprof::replay;

namespace {

/// The session of an object, for the length of a call.
class session_in_use {
 public:
  session_in_use(CUpti_RangeProfiler_Object* object, char const* function)
      : session_(range_profiler::get().use(object, function)) {
    not_inside_buffer_callback(function);
  }
  ~session_in_use() {
    if (session_ != nullptr) session_->in_use.clear();
  }
  session_in_use(session_in_use const&) = delete;
  session_in_use& operator=(session_in_use const&) = delete;
  explicit operator bool() const noexcept { return session_ != nullptr; }
  range_session& operator*() const noexcept { return *session_; }
  range_session* operator->() const noexcept { return session_; }

 private:
  range_session* const session_;
};

}  // namespace

#define NEEDS_SESSION()                                                         \
  session_in_use const session(params->pRangeProfilerObject, __func__);         \
  if (!session)                                                                 \
  return range_profiler::get().is_initialized() ? CUPTI_ERROR_INVALID_PARAMETER \
                                                : CUPTI_ERROR_NOT_INITIALIZED

extern "C" {

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_Profiler_Initialize_Params);
  return range_profiler::get().initialize();
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_Profiler_DeInitialize_Params);
  range_profiler::get().deinitialize();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_Profiler_DeviceSupported_Params);
  auto const device = static_cast<std::size_t>(params->cuDevice);
  if (device >= this_machine().devices.size()) return CUPTI_ERROR_INVALID_DEVICE;
  char const* const chosen = std::getenv("REPLAY_COUNTERS_UNSUPPORTED");
  std::string_view const off = chosen != nullptr ? chosen : "";
  auto const level = [&](char const* what) {
    return off == what ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
                       : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  };
  params->architecture = level("architecture");
  params->sli = level("sli");
  params->vGpu = off == "vGpu" ? CUPTI_PROFILER_CONFIGURATION_DISABLED
                               : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  params->confidentialCompute = level("confidentialCompute");
  params->cmp = level("cmp");
  params->wsl = level("wsl");
  auto const parts = {params->architecture,        params->sli, params->vGpu,
                      params->confidentialCompute, params->cmp, params->wsl};
  bool const all = std::all_of(parts.begin(), parts.end(), [](auto part) {
    return part == CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  });
  params->isSupported =
      all ? CUPTI_PROFILER_CONFIGURATION_SUPPORTED : CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(
    CUpti_Profiler_GetCounterAvailability_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_Profiler_GetCounterAvailability_Params);
  if (!range_profiler::get().is_initialized()) return CUPTI_ERROR_NOT_INITIALIZED;
  if (params->ctx == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  // "may fail": here it does
  if (counter_hardware::get().is_taken(device_of_contexts)) return CUPTI_ERROR_HARDWARE_BUSY;
  if (params->pCounterAvailabilityImage != nullptr) {
    if (params->counterAvailabilityImageSize < sizeof availability_image) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    std::memcpy(params->pCounterAvailabilityImage, availability_image, sizeof availability_image);
  }
  params->counterAvailabilityImageSize = sizeof availability_image;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_RangeProfiler_Enable_Params);
  not_inside_buffer_callback(__func__);
  return range_profiler::get().enable(params->ctx, &params->pRangeProfilerObject);
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_RangeProfiler_Disable_Params);
  NEEDS_SESSION();
  range_profiler::get().disable(*session);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(
    CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_RangeProfiler_GetCounterDataSize_Params);
  NEEDS_SESSION();
  if (params->pMetricNames == nullptr || params->numMetrics == 0 || params->maxNumOfRanges == 0 ||
      params->maxNumRangeTreeNodes < params->maxNumOfRanges)
    return CUPTI_ERROR_INVALID_PARAMETER;
  auto const names = std::span(params->pMetricNames, params->numMetrics);
  if (!std::all_of(names.begin(), names.end(),
                   [](auto name) { return name != nullptr && find_metric(name); }))
    return CUPTI_ERROR_INVALID_PARAMETER;
  params->counterDataSize = counter_data::size_for(params->maxNumOfRanges);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  NEEDS_SESSION();
  if (params->pCounterData == nullptr || counter_data::max_ranges_in(params->counterDataSize) == 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  counter_data::initialize({params->pCounterData, params->counterDataSize});
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_RangeProfiler_SetConfig_Params);
  NEEDS_SESSION();
  return session->set_up(*params);
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_RangeProfiler_Start_Params);
  NEEDS_SESSION();
  return range_profiler::get().start(*session);
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_RangeProfiler_Stop_Params);
  NEEDS_SESSION();
  session->stop(*params);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_RangeProfiler_PushRange_Params);
  NEEDS_SESSION();
  return session->push(params->pRangeName);
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_RangeProfiler_PopRange_Params);
  NEEDS_SESSION();
  session->pop();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_RangeProfiler_DecodeData_Params);
  NEEDS_SESSION();
  params->numOfRangeDropped = session->decode();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(
    CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_RangeProfiler_GetCounterDataInfo_Params);
  if (params->pCounterDataImage == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::span const image(params->pCounterDataImage, params->counterDataImageSize);
  if (!counter_data::is_one(image)) return CUPTI_ERROR_INVALID_PARAMETER;
  params->numTotalRanges = counter_data::ranges(image);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataGetRangeInfo(
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
  if (params->pCounterDataImage == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::span const image(params->pCounterDataImage, params->counterDataImageSize);
  if (!counter_data::is_one(image) || params->rangeIndex >= counter_data::ranges(image)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  params->rangeName = counter_data::name(image, params->rangeIndex);
  return CUPTI_SUCCESS;
}

}  // extern "C"
