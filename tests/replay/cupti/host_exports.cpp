// SPDX-License-Identifier: Apache-2.0
// CUPTI's host API for the one chip that is replayed: it needs neither driver nor GPU.
#include "replay/cupti/contract.hpp"
#include "replay/cupti/counter_hardware.hpp"
#include "replay/cupti/counter_images.hpp"
#include "replay/cupti/entry.hpp"
#include "replay/cupti/faults.hpp"
#include "replay/cupti/range_profiler.hpp"
#include "replay/cupti/sample_images.hpp"

#include <cupti_profiler_host.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <thread>

using namespace gpuprof::replay;

namespace {

constexpr char const* chips[] = {"GH100"};

struct host_object {
  chosen_counters chosen;
  bool spoilt = false;  // by a metric it refused: all later calls fail
};

std::mutex objects_lock;                      // protects the next
auto& objects = *new std::set<host_object*>;  // never destroyed: tools call late

/// Null when it was never made or has been released.
host_object* object_of(CUpti_Profiler_Host_Object* handle) {
  auto* const object = reinterpret_cast<host_object*>(handle);
  std::lock_guard const hold(objects_lock);
  return objects.contains(object) ? object : nullptr;
}

std::atomic<bool> torn_down{false};

/// The real one is in a library of its own, which libcupti opens when it is first used. Exit
/// handlers run last one first: its destructors before what a client registered earlier.
void tear_down_at_exit() {
  static auto const registered = std::atexit([] { torn_down = true; });
  if (registered != 0) broken("no exit handler could be registered");
}

host_object& living(CUpti_Profiler_Host_Object* handle, char const* function) {
  if (torn_down) {
    broken(std::string(function) +
           " was called after the destructors of libnvperf_host; the real library corrupts memory "
           "there");
  }
  auto* const object = object_of(handle);
  if (object == nullptr) broken(std::string(function) + " was given an object that is none");
  return *object;
}

bool is_of_sampler(host_object const& object) {
  return object.chosen.engine == CUPTI_PROFILER_TYPE_PM_SAMPLING;
}

bool takes(host_object const& object, char const* name) {
  auto const found = name != nullptr ? find_metric(name) : std::nullopt;
  if (!found) return false;
  return !is_of_sampler(object) || can_be_sampled(*found->base);
}

/// What the range or sample of that index counted, of an image of the object's own engine.
std::optional<counts> counted_in(std::span<std::uint8_t const> image, std::size_t index,
                                 bool of_sampler) {
  if (of_sampler) {
    if (!sample_data::is_one(image) || index >= sample_data::samples(image)) return std::nullopt;
    return sample_data::at(image, index).counted;
  }
  if (!counter_data::is_one(image) || index >= counter_data::ranges(image)) return std::nullopt;
  return counter_data::counted(image, index);
}

}  // namespace

extern "C" {

CUptiResult cuptiProfilerHostGetSupportedChips(
    CUpti_Profiler_Host_GetSupportedChips_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_Profiler_Host_GetSupportedChips_Params);
  params->numChips = std::size(chips);
  params->ppChipNames = chips;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_Profiler_Host_Initialize_Params);
  if (params->pChipName == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (std::none_of(std::begin(chips), std::end(chips),
                   [&](char const* chip) { return std::strcmp(chip, params->pChipName) == 0; }))
    return CUPTI_ERROR_INVALID_CHIP_NAME;
  if (auto const* const image = params->pCounterAvailabilityImage;
      image != nullptr && std::memcmp(image, availability_image, sizeof availability_image) != 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  tear_down_at_exit();
  auto* const object = new host_object{{params->profilerType, {}}};
  std::lock_guard const hold(objects_lock);
  objects.insert(object);
  params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(object);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_Profiler_Host_Deinitialize_Params);
  auto* const object = &living(params->pHostObject, __func__);
  std::lock_guard const hold(objects_lock);
  objects.erase(object);
  delete object;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_Profiler_Host_GetBaseMetrics_Params);
  auto const& object = living(params->pHostObject, __func__);
  auto* const names = new std::vector<char const*>;  // the client's as long as the library lives
  for (auto const& m : base_metrics()) {
    if (m.type == params->metricType && (!is_of_sampler(object) || can_be_sampled(m)))
      names->push_back(m.name);
  }
  params->numMetrics = names->size();
  params->ppMetricNames = names->data();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetSubMetrics(CUpti_Profiler_Host_GetSubMetrics_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_Profiler_Host_GetSubMetrics_Params);
  living(params->pHostObject, __func__);
  if (params->pMetricName == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto const* const metric = find_base_metric(params->pMetricName);
  if (metric == nullptr || metric->type != params->metricType) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  auto const suffixes = suffixes_of(metric->type);
  params->numOfSubmetrics = suffixes.size();
  params->ppSubMetrics = const_cast<char const**>(suffixes.data());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetMetricProperties(
    CUpti_Profiler_Host_GetMetricProperties_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_Profiler_Host_GetMetricProperties_Params);
  living(params->pHostObject, __func__);
  if (params->pMetricName == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto const* const metric = find_base_metric(params->pMetricName);
  if (metric == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  params->pDescription = metric->description;
  params->pHwUnit = metric->hardware_unit;
  params->pDimUnit = metric->unit;
  params->metricType = metric->type;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  if (auto const cost = faults::get().plan_us; cost != 0)
    std::this_thread::sleep_for(std::chrono::microseconds(cost));
  auto& object = living(params->pHostObject, __func__);
  if (object.spoilt) return CUPTI_ERROR_UNKNOWN;
  auto const names = std::span(params->ppMetricNames, params->numMetrics);
  if (!std::all_of(names.begin(), names.end(), [&](auto name) { return takes(object, name); })) {
    object.spoilt = true;
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  object.chosen.metrics.insert(object.chosen.metrics.end(), names.begin(), names.end());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(
    CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_Profiler_Host_GetConfigImageSize_Params);
  auto const& object = living(params->pHostObject, __func__);
  if (object.spoilt) return CUPTI_ERROR_UNKNOWN;
  params->configImageSize = config_image_of(object.chosen).size();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_Profiler_Host_GetConfigImage_Params);
  auto const& object = living(params->pHostObject, __func__);
  if (object.spoilt) return CUPTI_ERROR_UNKNOWN;
  auto const image = config_image_of(object.chosen);
  if (params->pConfigImage == nullptr || params->configImageSize < image.size()) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  std::copy(image.begin(), image.end(), params->pConfigImage);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_Profiler_Host_GetNumOfPasses_Params);
  if (params->pConfigImage == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto const chosen = read_config_image({params->pConfigImage, params->configImageSize});
  if (!chosen) return CUPTI_ERROR_INVALID_PARAMETER;
  params->numOfPasses = schedule_of(chosen->metrics).passes;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  WORKS_ALWAYS();
  NEEDS_SIZE(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  auto const& object = living(params->pHostObject, __func__);
  if (params->pCounterDataImage == nullptr || params->pMetricValues == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  std::span const image(params->pCounterDataImage, params->counterDataImageSize);
  auto const counted = counted_in(image, params->rangeIndex, is_of_sampler(object));
  if (!counted) return CUPTI_ERROR_INVALID_PARAMETER;
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    auto const metric = find_metric(params->ppMetricNames[i]);
    if (!metric) return CUPTI_ERROR_INVALID_PARAMETER;
    params->pMetricValues[i] = value_of(*metric, *counted, sms_of(device_of_contexts));
  }
  return CUPTI_SUCCESS;
}

}  // extern "C"
