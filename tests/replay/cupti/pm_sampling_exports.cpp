// SPDX-License-Identifier: Apache-2.0
// The functions of libcupti.so.13 that count at intervals, whatever the program launches.
#include "replay/cupti/contract.hpp"
#include "replay/cupti/counter_hardware.hpp"
#include "replay/cupti/entry.hpp"
#include "replay/cupti/pm_sampler.hpp"
#include "replay/cupti/range_profiler.hpp"
#include "replay/format/machine.hpp"

#include <algorithm>
#include <cstring>

using namespace gpuprof::replay;

namespace {

/// The session of an object, for the length of a call.
class sampling_in_use {
 public:
  sampling_in_use(CUpti_PmSampling_Object* object, char const* function)
      : session_(pm_sampler::get().use(object, function)) {
    not_inside_buffer_callback(function);
  }
  ~sampling_in_use() {
    if (session_ != nullptr) session_->in_use.clear();
  }
  sampling_in_use(sampling_in_use const&) = delete;
  sampling_in_use& operator=(sampling_in_use const&) = delete;
  explicit operator bool() const noexcept { return session_ != nullptr; }
  sampling_session& operator*() const noexcept { return *session_; }
  sampling_session* operator->() const noexcept { return session_; }

 private:
  sampling_session* const session_;
};

bool can_be_sampled(char const* name) {
  auto const found = name != nullptr ? find_metric(name) : std::nullopt;
  return found && can_be_sampled(*found->base);
}

}  // namespace

#define NEEDS_SAMPLING()                                                        \
  sampling_in_use const session(params->pPmSamplingObject, __func__);           \
  if (!session)                                                                 \
  return range_profiler::get().is_initialized() ? CUPTI_ERROR_INVALID_PARAMETER \
                                                : CUPTI_ERROR_NOT_INITIALIZED

extern "C" {

CUptiResult cuptiPmSamplingGetCounterAvailability(
    CUpti_PmSampling_GetCounterAvailability_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_PmSampling_GetCounterAvailability_Params);
  if (!range_profiler::get().is_initialized()) return CUPTI_ERROR_NOT_INITIALIZED;
  if (params->deviceIndex >= this_machine().devices.size()) return CUPTI_ERROR_INVALID_PARAMETER;
  // "may fail": here it does
  if (counter_hardware::get().is_taken(params->deviceIndex)) return CUPTI_ERROR_HARDWARE_BUSY;
  if (params->pCounterAvailabilityImage != nullptr) {
    if (params->counterAvailabilityImageSize < sizeof availability_image) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    std::memcpy(params->pCounterAvailabilityImage, availability_image, sizeof availability_image);
  }
  params->counterAvailabilityImageSize = sizeof availability_image;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_PmSampling_Enable_Params);
  not_inside_buffer_callback(__func__);
  return pm_sampler::get().enable(params->deviceIndex, &params->pPmSamplingObject);
}

CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_PmSampling_Disable_Params);
  NEEDS_SAMPLING();
  pm_sampler::get().disable(*session);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_PmSampling_SetConfig_Params);
  NEEDS_SAMPLING();
  return session->set_up(*params);
}

CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_PmSampling_Start_Params);
  NEEDS_SAMPLING();
  return session->start();
}

CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_PmSampling_Stop_Params);
  NEEDS_SAMPLING();
  session->stop();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_PmSampling_DecodeData_Params);
  NEEDS_SAMPLING();
  return session->decode(*params);
}

CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_PmSampling_GetCounterDataSize_Params);
  NEEDS_SAMPLING();
  if (params->pMetricNames == nullptr || params->numMetrics == 0 || params->maxSamples == 0) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  auto const names = std::span(params->pMetricNames, params->numMetrics);
  if (!std::all_of(names.begin(), names.end(), [](auto name) { return can_be_sampled(name); })) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  params->counterDataSize = sample_data::size_for(params->maxSamples);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataImageInitialize(
    CUpti_PmSampling_CounterDataImage_Initialize_Params* params) {
  NEEDS_DRIVER();
  NEEDS_SIZE(CUpti_PmSampling_CounterDataImage_Initialize_Params);
  NEEDS_SAMPLING();
  if (params->pCounterData == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (sample_data::max_samples_in(params->counterDataSize) == 0) {
    broken(
        "cuptiPmSamplingCounterDataImageInitialize was given an image of another size than "
        "GetCounterDataSize says");
  }
  sample_data::initialize({params->pCounterData, params->counterDataSize});
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_PmSampling_GetCounterDataInfo_Params);
  if (params->pCounterDataImage == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::span const image(params->pCounterDataImage, params->counterDataImageSize);
  if (!sample_data::is_one(image)) return CUPTI_ERROR_INVALID_PARAMETER;
  params->numTotalSamples = sample_data::max_samples_in(image.size());
  params->numPopulatedSamples = params->numCompletedSamples = sample_data::samples(image);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(
    CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_PmSampling_CounterData_GetSampleInfo_Params);
  NEEDS_SAMPLING();
  if (params->pCounterDataImage == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::span const image(params->pCounterDataImage, params->counterDataImageSize);
  if (!sample_data::is_one(image) || params->sampleIndex >= sample_data::samples(image)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  auto const sample = sample_data::at(image, params->sampleIndex);
  params->startTimestamp = sample.start;
  params->endTimestamp = sample.end;
  return CUPTI_SUCCESS;
}

}  // extern "C"
