// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/planning/host_profiler.hpp"

#include <optional>
#include <utility>

namespace gpuprof::guest {
namespace {

CUpti_ProfilerType profiler_type(counter_engine engine) noexcept {
  return engine == counter_engine::sampling ? CUPTI_PROFILER_TYPE_PM_SAMPLING
                                            : CUPTI_PROFILER_TYPE_RANGE_PROFILER;
}

CUpti_MetricType cupti_type(metric_type type) noexcept {
  switch (type) {
    case metric_type::ratio:
      return CUPTI_METRIC_TYPE_RATIO;
    case metric_type::throughput:
      return CUPTI_METRIC_TYPE_THROUGHPUT;
    case metric_type::counter:
      break;
  }
  return CUPTI_METRIC_TYPE_COUNTER;
}

metric_type type_of(CUpti_MetricType type) noexcept {
  if (type == CUPTI_METRIC_TYPE_RATIO) return metric_type::ratio;
  return type == CUPTI_METRIC_TYPE_THROUGHPUT ? metric_type::throughput : metric_type::counter;
}

std::string text_or_empty(char const* text) {
  return text != nullptr ? text : "";
}

std::vector<std::string> copied(char const** names, std::size_t count) {
  return names != nullptr ? std::vector<std::string>(names, names + count)
                          : std::vector<std::string>();
}

/// Returns the reason if this libcupti lacks the counter functions.
std::optional<error> reason_for_none(cupti_api const& api) {
  auto const* const missing = api.first_missing_for_counters();
  if (missing == nullptr) return std::nullopt;
  return error{std::string("counters are off: this libcupti has no ") + missing +
               ", CUDA 12.6 or later is needed"};
}

error off(CUptiResult code, std::string const& message) {
  if (code == CUPTI_ERROR_NOT_INITIALIZED)
    return {
        "counters are off: libcupti did not find libnvperf_host.so, which comes with it and "
        "belongs beside it"};
  return {"counters are off: " + message};
}

/// If metrics are added to a new object, CUPTI returns INVALID_PARAMETER if it does not know one
/// (it does not say which), NOT_SUPPORTED for counters of the context together with those of the
/// device, and UNKNOWN if the availability image excludes one.
bool is_refusal(CUptiResult code) noexcept {
  return code == CUPTI_ERROR_INVALID_PARAMETER || code == CUPTI_ERROR_INVALID_METRIC_NAME ||
         code == CUPTI_ERROR_NOT_SUPPORTED || code == CUPTI_ERROR_UNKNOWN;
}

}  // namespace

result<std::vector<std::string>> known_chips(cupti_api const& api) {
  if (auto none = reason_for_none(api)) return std::move(*none);
  CUpti_Profiler_Host_GetSupportedChips_Params params{
      .structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .numChips = 0,
      .ppChipNames = nullptr};
  CUptiResult code{};
  auto const asked =
      cupti_guard(api).call_for_code<&cupti_api::cuptiProfilerHostGetSupportedChips>(code, &params);
  if (!asked) return off(code, asked.message());
  return std::vector<std::string>(params.ppChipNames, params.ppChipNames + params.numChips);
}

host_profiler::host_profiler(cupti_api const& api, counter_engine engine, std::string chip,
                             std::vector<std::uint8_t> availability)
    : guard_(api),
      engine_(engine),
      chip_(std::move(chip)),
      availability_(std::move(availability)) {}

host_profiler::host_profiler(host_profiler&& other) noexcept
    : guard_(other.guard_),
      engine_(other.engine_),
      chip_(std::move(other.chip_)),
      availability_(std::move(other.availability_)),
      object_(std::exchange(other.object_, nullptr)) {}

host_profiler::~host_profiler() {
  destroy(object_);
}

result<host_profiler> host_profiler::open(cupti_api const& api, counter_engine engine,
                                          std::string chip,
                                          std::vector<std::uint8_t> availability) {
  if (auto none = reason_for_none(api)) return std::move(*none);
  host_profiler profiler(api, engine, std::move(chip), std::move(availability));
  auto object = profiler.make_object();
  if (!object) return error{object.message()};
  profiler.object_ = *object;
  return profiler;
}

result<CUpti_Profiler_Host_Object*> host_profiler::make_object() const {
  CUpti_Profiler_Host_Initialize_Params params{
      .structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .profilerType = profiler_type(engine_),
      .pChipName = chip_.c_str(),
      .pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data(),
      .pHostObject = nullptr};
  CUptiResult code{};
  auto const made = guard_.call_for_code<&cupti_api::cuptiProfilerHostInitialize>(code, &params);
  if (made) return params.pHostObject;
  switch (code) {
    case CUPTI_ERROR_INVALID_CHIP_NAME:
      return error{"this libcupti does not know a chip " + chip_};
    case CUPTI_ERROR_NOT_SUPPORTED:
      return error{chip_ + " has no counters that " +
                   (engine_ == counter_engine::sampling ? "can be sampled" : "CUPTI can read")};
    default:
      return off(code, made.message());
  }
}

void host_profiler::destroy(CUpti_Profiler_Host_Object* object) const noexcept {
  if (object == nullptr) return;
  CUpti_Profiler_Host_Deinitialize_Params params{
      .structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pHostObject = object};
  guard_.try_call<&cupti_api::cuptiProfilerHostDeinitialize>(&params);
}

result<std::vector<std::string>> host_profiler::base_metrics(metric_type type) const {
  CUpti_Profiler_Host_GetBaseMetrics_Params params{
      .structSize = CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pHostObject = object_,
      .metricType = cupti_type(type),
      .ppMetricNames = nullptr,
      .numMetrics = 0};
  auto const asked = guard_.call<&cupti_api::cuptiProfilerHostGetBaseMetrics>(&params);
  if (!asked) return error{asked.message()};
  return copied(params.ppMetricNames, params.numMetrics);
}

result<std::vector<std::string>> host_profiler::suffixes(std::string const& base_metric,
                                                         metric_type type) const {
  CUpti_Profiler_Host_GetSubMetrics_Params params{
      .structSize = CUpti_Profiler_Host_GetSubMetrics_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pHostObject = object_,
      .metricType = cupti_type(type),
      .pMetricName = base_metric.c_str(),
      .numOfSubmetrics = 0,
      .ppSubMetrics = nullptr};
  auto const asked = guard_.call<&cupti_api::cuptiProfilerHostGetSubMetrics>(&params);
  if (!asked) return error{asked.message()};
  return copied(params.ppSubMetrics, params.numOfSubmetrics);
}

result<metric_properties> host_profiler::properties(std::string const& metric) const {
  CUpti_Profiler_Host_GetMetricProperties_Params params{
      .structSize = CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pHostObject = object_,
      .pMetricName = metric.c_str(),
      .pDescription = nullptr,
      .pHwUnit = nullptr,
      .pDimUnit = nullptr,
      .metricType = CUPTI_METRIC_TYPE_COUNTER};
  auto const asked = guard_.call<&cupti_api::cuptiProfilerHostGetMetricProperties>(&params);
  if (!asked) return error{asked.message()};
  return metric_properties{.description = text_or_empty(params.pDescription),
                           .hardware_unit = text_or_empty(params.pHwUnit),
                           .unit = text_or_empty(params.pDimUnit),
                           .type = type_of(params.metricType)};
}

// Makes a new object for each call. A name that CUPTI rejects breaks its object (every later call
// returns 999), and metrics added after an image was made are not packed with earlier ones.
result<counter_configuration> host_profiler::configure(std::span<std::string const> metrics) const {
  auto const object = make_object();
  if (!object) return error{object.message()};
  struct at_end {
    host_profiler const& profiler;
    CUpti_Profiler_Host_Object* object;
    ~at_end() { profiler.destroy(object); }
  } const destroyed{*this, *object};
  return configure(*object, metrics);
}

result<counter_configuration> host_profiler::configure(CUpti_Profiler_Host_Object* object,
                                                       std::span<std::string const> metrics) const {
  std::vector<char const*> names;
  names.reserve(metrics.size());
  for (auto const& metric : metrics) names.push_back(metric.c_str());
  CUpti_Profiler_Host_ConfigAddMetrics_Params add{
      .structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pHostObject = object,
      .ppMetricNames = names.data(),
      .numMetrics = names.size()};
  CUptiResult code{};
  auto const added =
      guard_.call_for_code<&cupti_api::cuptiProfilerHostConfigAddMetrics>(code, &add);
  if (is_refusal(code)) return counter_configuration{};
  if (!added) return error{added.message()};

  CUpti_Profiler_Host_GetConfigImageSize_Params size{
      .structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pHostObject = object,
      .configImageSize = 0};
  if (auto const asked = guard_.call<&cupti_api::cuptiProfilerHostGetConfigImageSize>(&size);
      !asked)
    return error{asked.message()};

  counter_configuration configuration;
  configuration.image.resize(size.configImageSize);
  CUpti_Profiler_Host_GetConfigImage_Params image{
      .structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pHostObject = object,
      .configImageSize = configuration.image.size(),
      .pConfigImage = configuration.image.data()};
  if (auto const made = guard_.call<&cupti_api::cuptiProfilerHostGetConfigImage>(&image); !made)
    return error{made.message()};

  CUpti_Profiler_Host_GetNumOfPasses_Params passes{
      .structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .configImageSize = configuration.image.size(),
      .pConfigImage = configuration.image.data(),
      .numOfPasses = 0};
  if (auto const counted = guard_.call<&cupti_api::cuptiProfilerHostGetNumOfPasses>(&passes);
      !counted)
    return error{counted.message()};
  configuration.passes = passes.numOfPasses;
  return configuration;
}

result<std::vector<double>> host_profiler::evaluate(std::span<std::uint8_t const> image,
                                                    std::size_t index,
                                                    std::span<std::string const> metrics) const {
  std::vector<char const*> names;
  names.reserve(metrics.size());
  for (auto const& metric : metrics) names.push_back(metric.c_str());
  std::vector<double> values(metrics.size());
  CUpti_Profiler_Host_EvaluateToGpuValues_Params params{
      .structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
      .pPriv = nullptr,
      .pHostObject = object_,
      .pCounterDataImage = image.data(),
      .counterDataImageSize = image.size(),
      .rangeIndex = index,
      .ppMetricNames = names.data(),
      .numMetrics = names.size(),
      .pMetricValues = values.data()};
  auto const evaluated = guard_.call<&cupti_api::cuptiProfilerHostEvaluateToGpuValues>(&params);
  if (!evaluated) return error{evaluated.message()};
  return values;
}

}  // namespace gpuprof::guest
