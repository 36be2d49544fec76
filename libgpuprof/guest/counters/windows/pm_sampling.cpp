// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/windows/pm_sampling.hpp"

#include "base/process.hpp"
#include "guest/counters/counter_access.hpp"

#include <cstddef>
#include <utility>

namespace gpuprof::guest {
namespace {

CUpti_PmSampling_Stop_Params stop_params(CUpti_PmSampling_Object* object) noexcept {
  return {.structSize = CUpti_PmSampling_Stop_Params_STRUCT_SIZE,
          .pPriv = nullptr,
          .pPmSamplingObject = object};
}

}  // namespace

result<std::unique_ptr<pm_sampling>> pm_sampling::open(cupti_api const& api, device_id device,
                                                       sampling_setup setup, bool& busy) {
  CUpti_PmSampling_Enable_Params params{.structSize = CUpti_PmSampling_Enable_Params_STRUCT_SIZE,
                                        .pPriv = nullptr,
                                        .deviceIndex = raw(device),
                                        .pPmSamplingObject = nullptr};
  CUptiResult code{};
  auto const enabled =
      cupti_guard(api).call_for_code<&cupti_api::cuptiPmSamplingEnable>(code, &params);
  busy = code == CUPTI_ERROR_HARDWARE_BUSY;
  if (!enabled) return counters_refused(api, counter_engine::sampling, code, enabled.message());
  std::unique_ptr<pm_sampling> made(
      new pm_sampling(api, params.pPmSamplingObject, std::move(setup)));
  if (auto const ok = made->configure(busy); !ok) return error{ok.message()};
  if (auto const ok = made->make_image(); !ok) return error{ok.message()};
  return made;
}

pm_sampling::~pm_sampling() {
  if (process_is_exiting()) return;
  if (started_) {
    auto end = stop_params(object_);
    guard_.try_call<&cupti_api::cuptiPmSamplingStop>(&end);
  }
  CUpti_PmSampling_Disable_Params params{.structSize = CUpti_PmSampling_Disable_Params_STRUCT_SIZE,
                                         .pPriv = nullptr,
                                         .pPmSamplingObject = object_};
  pause_of_call const stops(setup_.pauses, setup_.device);
  guard_.try_call<&cupti_api::cuptiPmSamplingDisable>(&params);
}

// Samples by time if the chip can, not by cycles, because clocks change under load. When the
// hardware buffer is full, the newest samples are kept and an overflow is reported, so sampling
// need not be restarted.
result<void> pm_sampling::configure(bool& busy) {
  CUpti_PmSampling_SetConfig_Params params{
      .structSize = CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pPmSamplingObject = object_,
      .configSize = setup_.configuration.image.size(),
      .pConfig = setup_.configuration.image.data(),
      .hardwareBufferSize = setup_.hardware_buffer_bytes,
      .samplingInterval = setup_.interval_ns,
      .triggerMode = setup_.by_cycles ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL
                                      : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL,
      .hwBufferAppendMode = setup_.keeps_oldest
                                ? CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST
                                : CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST};
  std::uint32_t version = 0;
  guard_.try_call<&cupti_api::cuptiGetVersion>(&version);
  if (version < cupti_version::has_append_mode)
    params.structSize = offsetof(CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
  CUptiResult code{};
  pause_of_call const stops(setup_.pauses, setup_.device);
  auto const ok = guard_.call_for_code<&cupti_api::cuptiPmSamplingSetConfig>(code, &params);
  busy = code == CUPTI_ERROR_HARDWARE_BUSY;
  if (!ok) return counters_refused(guard_.api(), counter_engine::sampling, code, ok.message());
  return {};
}

result<void> pm_sampling::make_image() {
  std::vector<char const*> names;
  for (auto const& metric : setup_.metrics) names.push_back(metric.c_str());
  CUpti_PmSampling_GetCounterDataSize_Params size{
      .structSize = CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pPmSamplingObject = object_,
      .pMetricNames = names.data(),
      .numMetrics = names.size(),
      .maxSamples = static_cast<std::uint32_t>(setup_.max_samples),
      .counterDataSize = 0};
  if (auto ok = guard_.call<&cupti_api::cuptiPmSamplingGetCounterDataSize>(&size); !ok) return ok;
  blank_image_.resize(size.counterDataSize);
  CUpti_PmSampling_CounterDataImage_Initialize_Params params{
      .structSize = CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pPmSamplingObject = object_,
      .counterDataSize = blank_image_.size(),
      .pCounterData = blank_image_.data()};
  return guard_.call<&cupti_api::cuptiPmSamplingCounterDataImageInitialize>(&params);
}

result<void> pm_sampling::start(bool& busy) {
  CUpti_PmSampling_Start_Params params{.structSize = CUpti_PmSampling_Start_Params_STRUCT_SIZE,
                                       .pPriv = nullptr,
                                       .pPmSamplingObject = object_};
  CUptiResult code{};
  auto const ok = guard_.call_for_code<&cupti_api::cuptiPmSamplingStart>(code, &params);
  busy = code == CUPTI_ERROR_HARDWARE_BUSY;
  if (!ok) return counters_refused(guard_.api(), counter_engine::sampling, code, ok.message());
  started_ = true;
  return {};
}

result<void> pm_sampling::stop() {
  auto params = stop_params(object_);
  auto stopped = guard_.call<&cupti_api::cuptiPmSamplingStop>(&params);
  started_ = !stopped;
  return stopped;
}

result<std::size_t> pm_sampling::samples_in_image() const {
  CUpti_PmSampling_GetCounterDataInfo_Params params{
      .structSize = CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pCounterDataImage = image_.data(),
      .counterDataImageSize = image_.size(),
      .numTotalSamples = 0,
      .numPopulatedSamples = 0,
      .numCompletedSamples = 0};
  if (auto const ok = guard_.call<&cupti_api::cuptiPmSamplingGetCounterDataInfo>(&params); !ok)
    return error{ok.message()};
  return params.numCompletedSamples;
}

result<void> pm_sampling::read_sample(host_profiler const& evaluator, std::size_t index,
                                      decoded_samples& to) const {
  CUpti_PmSampling_CounterData_GetSampleInfo_Params params{
      .structSize = CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pPmSamplingObject = object_,
      .pCounterDataImage = image_.data(),
      .counterDataImageSize = image_.size(),
      .sampleIndex = index,
      .startTimestamp = 0,
      .endTimestamp = 0};
  if (auto ok = guard_.call<&cupti_api::cuptiPmSamplingCounterDataGetSampleInfo>(&params); !ok)
    return ok;
  auto const values = evaluator.evaluate(image_, index, setup_.metrics);
  if (!values) return error{values.message()};
  to.intervals.push_back({{params.startTimestamp}, {params.endTimestamp}});
  to.values.insert(to.values.end(), values->begin(), values->end());
  return {};
}

// Every round begins with a copy of the blank image: initializing one again takes far longer.
result<decoded_samples> pm_sampling::decode(host_profiler const& evaluator) {
  image_ = blank_image_;
  CUpti_PmSampling_DecodeData_Params params{
      .structSize = CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pPmSamplingObject = object_,
      .pCounterDataImage = image_.data(),
      .counterDataImageSize = image_.size(),
      .decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER,
      .overflow = 0};
  if (auto const ok = guard_.call<&cupti_api::cuptiPmSamplingDecodeData>(&params); !ok)
    return error{ok.message()};
  decoded_samples decoded;
  decoded.overflowed = params.overflow != 0;
  decoded.more = params.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
  auto const count = samples_in_image();
  if (!count) return error{count.message()};
  for (std::size_t i = 0; i < *count; ++i)
    if (auto const ok = read_sample(evaluator, i, decoded); !ok) return error{ok.message()};
  return decoded;
}

}  // namespace gpuprof::guest
