// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/range_profiler.hpp"

#include "base/process.hpp"
#include "guest/counters/counter_access.hpp"

#include <utility>

namespace gpuprof::guest {

result<std::unique_ptr<range_profiler>> range_profiler::open(cupti_api const& api,
                                                             CUcontext context) {
  CUpti_RangeProfiler_Enable_Params params{
      .structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .ctx = context,
      .pRangeProfilerObject = nullptr};
  CUptiResult code{};
  auto const enabled =
      cupti_guard(api).call_for_code<&cupti_api::cuptiRangeProfilerEnable>(code, &params);
  if (!enabled) return counters_refused(api, counter_engine::ranges, code, enabled.message());
  return std::unique_ptr<range_profiler>(new range_profiler(api, params.pRangeProfilerObject));
}

range_profiler::~range_profiler() {
  if (object_ == nullptr || process_is_exiting()) return;
  if (started_) {
    CUpti_RangeProfiler_Stop_Params stop{};
    stop.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
    stop.pRangeProfilerObject = object_;
    guard_.try_call<&cupti_api::cuptiRangeProfilerStop>(&stop);
  }
  CUpti_RangeProfiler_Disable_Params params{
      .structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pRangeProfilerObject = object_};
  guard_.try_call<&cupti_api::cuptiRangeProfilerDisable>(&params);
}

result<range_setup> range_profiler::make_setup(counter_configuration configuration,
                                               std::vector<std::string> metrics,
                                               std::size_t max_ranges) const {
  range_setup setup{std::move(configuration), std::move(metrics), max_ranges, {}};
  std::vector<char const*> names;
  for (auto const& metric : setup.metrics) names.push_back(metric.c_str());
  CUpti_RangeProfiler_GetCounterDataSize_Params size{
      .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pRangeProfilerObject = object_,
      .pMetricNames = names.data(),
      .numMetrics = names.size(),
      .maxNumOfRanges = max_ranges,
      .maxNumRangeTreeNodes = static_cast<std::uint32_t>(max_ranges),
      .counterDataSize = 0};
  if (auto const ok = guard_.call<&cupti_api::cuptiRangeProfilerGetCounterDataSize>(&size); !ok)
    return error{ok.message()};
  setup.empty_image.resize(size.counterDataSize);
  CUpti_RangeProfiler_CounterDataImage_Initialize_Params image{
      .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pRangeProfilerObject = object_,
      .counterDataSize = setup.empty_image.size(),
      .pCounterData = setup.empty_image.data()};
  if (auto const ok = guard_.call<&cupti_api::cuptiRangeProfilerCounterDataImageInitialize>(&image);
      !ok)
    return error{ok.message()};
  return setup;
}

result<void> range_profiler::configure(range_setup const& setup) {
  setup_ = &setup;
  image_ = setup.empty_image;
  pass_ = 0;
  nesting_level_ = 1;
  return configure();
}

result<void> range_profiler::configure_next_pass() {
  return configure();
}

// Uses user range and user replay: no kernel runs twice, because each pass counts another launch of
// the program.
result<void> range_profiler::configure() {
  CUpti_RangeProfiler_SetConfig_Params params{
      .structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pRangeProfilerObject = object_,
      .configSize = setup_->configuration.image.size(),
      .pConfig = setup_->configuration.image.data(),
      .counterDataImageSize = image_.size(),
      .pCounterDataImage = image_.data(),
      .range = CUPTI_UserRange,
      .replayMode = CUPTI_UserReplay,
      .maxRangesPerPass = setup_->max_ranges,
      .numNestingLevels = 1,
      .minNestingLevel = 1,
      .passIndex = pass_,
      .targetNestingLevel = static_cast<std::uint16_t>(nesting_level_)};
  CUptiResult code{};
  if (auto const ok = guard_.call_for_code<&cupti_api::cuptiRangeProfilerSetConfig>(code, &params);
      !ok)
    return counters_refused(guard_.api(), counter_engine::ranges, code, ok.message());
  return {};
}

result<void> range_profiler::start() {
  CUpti_RangeProfiler_Start_Params params{
      .structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pRangeProfilerObject = object_};
  CUptiResult code{};
  if (auto const ok = guard_.call_for_code<&cupti_api::cuptiRangeProfilerStart>(code, &params); !ok)
    return counters_refused(guard_.api(), counter_engine::ranges, code, ok.message());
  started_ = true;
  return {};
}

bool range_profiler::push(char const* name) noexcept {
  CUpti_RangeProfiler_PushRange_Params params{
      .structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pRangeProfilerObject = object_,
      .pRangeName = name};
  return guard_.try_call<&cupti_api::cuptiRangeProfilerPushRange>(&params);
}

bool range_profiler::pop() noexcept {
  CUpti_RangeProfiler_PopRange_Params params{
      .structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pRangeProfilerObject = object_};
  return guard_.try_call<&cupti_api::cuptiRangeProfilerPopRange>(&params);
}

result<bool> range_profiler::stop() {
  CUpti_RangeProfiler_Stop_Params params{};
  params.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
  params.pRangeProfilerObject = object_;
  started_ = false;
  if (auto const ok = guard_.call<&cupti_api::cuptiRangeProfilerStop>(&params); !ok)
    return error{ok.message()};
  pass_ = params.passIndex;
  nesting_level_ = params.targetNestingLevel;
  return params.isAllPassSubmitted != 0;
}

/// Returns the number of ranges that had no room.
result<std::size_t> range_profiler::decode_data() {
  CUpti_RangeProfiler_DecodeData_Params decode{
      .structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pRangeProfilerObject = object_,
      .numOfRangeDropped = 0};
  if (auto const ok = guard_.call<&cupti_api::cuptiRangeProfilerDecodeData>(&decode); !ok)
    return error{ok.message()};
  return decode.numOfRangeDropped;
}

result<std::vector<std::string>> range_profiler::range_names() {
  CUpti_RangeProfiler_GetCounterDataInfo_Params info{
      .structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pCounterDataImage = image_.data(),
      .counterDataImageSize = image_.size(),
      .numTotalRanges = 0};
  if (auto const ok = guard_.call<&cupti_api::cuptiRangeProfilerGetCounterDataInfo>(&info); !ok)
    return error{ok.message()};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < info.numTotalRanges; ++i) {
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params range{
        .structSize = CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE,
        .pPriv = nullptr,
        .pCounterDataImage = image_.data(),
        .counterDataImageSize = image_.size(),
        .rangeIndex = i,
        .rangeDelimiter = "/",
        .rangeName = nullptr};
    if (auto const ok = guard_.call<&cupti_api::cuptiRangeProfilerCounterDataGetRangeInfo>(&range);
        !ok)
      return error{ok.message()};
    names.emplace_back(range.rangeName != nullptr ? range.rangeName : "");
  }
  return names;
}

result<counted_ranges> range_profiler::decode() {
  auto const dropped = decode_data();
  if (!dropped) return error{dropped.message()};
  auto names = range_names();
  if (!names) return error{names.message()};
  return counted_ranges{std::exchange(image_, {}), std::move(*names), *dropped};
}

}  // namespace gpuprof::guest
