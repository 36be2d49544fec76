// SPDX-License-Identifier: Apache-2.0
#include "support/fake_sampling.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gpuprof::test {
namespace {

/// An image: a header, then samples.
struct header {
  std::uint64_t is_image = 0x7470, count = 0, room = 0;
};

header head_of(std::uint8_t const* image) {
  header head;
  std::memcpy(&head, image, sizeof head);
  return head;
}

fake_sampling::sample sample_of(std::uint8_t const* image, std::size_t index) {
  fake_sampling::sample sample;
  std::memcpy(&sample, image + sizeof(header) + index * sizeof sample, sizeof sample);
  return sample;
}

}  // namespace

CUptiResult fake_sampling::mistake(std::string what) {
  mistakes_.push_back(std::move(what));
  return CUPTI_ERROR_INVALID_OPERATION;
}

fake_sampling::object* fake_sampling::find(CUpti_PmSampling_Object* handle, char const* who) {
  for (auto& each : objects_)
    if (reinterpret_cast<CUpti_PmSampling_Object*>(&each) == handle) return &each;
  mistake(std::string(who) + " without an object");
  return nullptr;
}

CUptiResult fake_sampling::answer(CUpti_PmSampling_GetCounterAvailability_Params* params) {
  params->counterAvailabilityImageSize = 1;
  return CUPTI_SUCCESS;
}

CUptiResult fake_sampling::answer(CUpti_PmSampling_Enable_Params* params) {
  for (auto const& each : objects_)
    if (each.device == params->deviceIndex) return mistake("enabled twice");
  auto& made = objects_.emplace_back();
  made.device = params->deviceIndex;
  params->pPmSamplingObject = reinterpret_cast<CUpti_PmSampling_Object*>(&made);
  return CUPTI_SUCCESS;
}

CUptiResult fake_sampling::answer(CUpti_PmSampling_Disable_Params* params) {
  auto* const known = find(params->pPmSamplingObject, "disable");
  if (known == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (known->started) mistake("disabled while started");
  objects_.remove_if([&](object const& each) { return &each == known; });
  return CUPTI_SUCCESS;
}

CUptiResult fake_sampling::answer(CUpti_PmSampling_SetConfig_Params* params) {
  auto* const known = find(params->pPmSamplingObject, "configured");
  if (known == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  known->configured = true;
  known->interval_ns = params->samplingInterval;
  known->config_struct_bytes = params->structSize;
  known->trigger = params->triggerMode;
  return CUPTI_SUCCESS;
}

CUptiResult fake_sampling::answer(CUpti_PmSampling_Start_Params* params) {
  auto* const known = find(params->pPmSamplingObject, "start");
  if (known == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (known->started || !known->configured) return mistake("started out of order");
  known->started = true;
  return CUPTI_SUCCESS;
}

CUptiResult fake_sampling::answer(CUpti_PmSampling_Stop_Params* params) {
  auto* const known = find(params->pPmSamplingObject, "stop");
  if (known == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!known->started) return mistake("stopped twice");
  known->started = false;
  return CUPTI_SUCCESS;
}

CUptiResult fake_sampling::answer(CUpti_PmSampling_GetCounterDataSize_Params* params) {
  params->counterDataSize = sizeof(header) + params->maxSamples * sizeof(sample);
  return CUPTI_SUCCESS;
}

CUptiResult fake_sampling::answer(CUpti_PmSampling_CounterDataImage_Initialize_Params* params) {
  header head;
  head.room = (params->counterDataSize - sizeof head) / sizeof(sample);
  std::memcpy(params->pCounterData, &head, sizeof head);
  return CUPTI_SUCCESS;
}

CUptiResult fake_sampling::answer(CUpti_PmSampling_DecodeData_Params* params) {
  auto* const known = find(params->pPmSamplingObject, "decode");
  if (known == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto head = head_of(params->pCounterDataImage);
  if (head.is_image != header{}.is_image || head.count != 0) return mistake("no blank image");
  auto& from = waiting[known->device];
  while (head.count < head.room && !from.empty()) {
    auto const one = from.front();
    if (!never_ends) from.pop_front();
    std::memcpy(params->pCounterDataImage + sizeof head + head.count++ * sizeof one, &one,
                sizeof one);
  }
  std::memcpy(params->pCounterDataImage, &head, sizeof head);
  params->decodeStopReason = from.empty() ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS
                                          : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
  params->overflow = std::exchange(overflows, false);
  return CUPTI_SUCCESS;
}

CUptiResult fake_sampling::answer(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
  params->numCompletedSamples = head_of(params->pCounterDataImage).count;
  return CUPTI_SUCCESS;
}

CUptiResult fake_sampling::answer(CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
  auto const one = sample_of(params->pCounterDataImage, params->sampleIndex);
  params->startTimestamp = one.start;
  params->endTimestamp = one.end;
  return CUPTI_SUCCESS;
}

CUptiResult fake_sampling::answer(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  auto const one = sample_of(params->pCounterDataImage, params->rangeIndex);
  for (std::size_t m = 0; m < params->numMetrics; ++m)
    params->pMetricValues[m] = one.value + static_cast<double>(m);
  return CUPTI_SUCCESS;
}

}  // namespace gpuprof::test
