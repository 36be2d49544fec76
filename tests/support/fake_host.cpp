// SPDX-License-Identifier: Apache-2.0
#include "support/fake_host.hpp"

#include <algorithm>
#include <set>

namespace gpuprof::test {
namespace {

struct fake_metric {
  char const* base;
  CUpti_MetricType type;
  int range_slots, sampling_slots;  // 0: this engine does not know it
  enum { of_context, of_device, in_kernel } scope = of_context;
};
constexpr fake_metric table[] = {
    {"sm__cycles_active", CUPTI_METRIC_TYPE_COUNTER, 1, 1},
    {"dram__bytes_read", CUPTI_METRIC_TYPE_COUNTER, 1, 1},
    {"dram__bytes_write", CUPTI_METRIC_TYPE_COUNTER, 1, 1},
    {"lts__t_bytes", CUPTI_METRIC_TYPE_COUNTER, 1, 2},
    {"sm__wide", CUPTI_METRIC_TYPE_COUNTER, 3, 4},
    {"sm__odd", CUPTI_METRIC_TYPE_COUNTER, 3, 0},
    {"smsp__sass_ffma", CUPTI_METRIC_TYPE_COUNTER, 1, 0, fake_metric::in_kernel},
    {"smsp__sass_fadd", CUPTI_METRIC_TYPE_COUNTER, 1, 0, fake_metric::in_kernel},
    {"pcie__read_bytes", CUPTI_METRIC_TYPE_COUNTER, 1, 1, fake_metric::of_device},
    {"TPC.Triage.sm__realtime", CUPTI_METRIC_TYPE_COUNTER, 0, 1},
    {"lts__t_sector_hit_rate", CUPTI_METRIC_TYPE_RATIO, 2, 2},
    {"sm__throughput", CUPTI_METRIC_TYPE_THROUGHPUT, 2, 0}};
constexpr char const* counter_suffixes[] = {".avg", ".sum", ".sum.per_second"};
constexpr char const* ratio_suffixes[] = {".pct", ".ratio"};
constexpr char const* throughput_suffixes[] = {".avg.pct_of_peak_sustained_elapsed"};
constexpr char const* chips[] = {"TU102", "GH100"};

/// The metric whose base and suffix make up this name.
fake_metric const* metric_named(std::string_view name) {
  for (auto const& metric : table) {
    if (!name.starts_with(metric.base)) continue;
    auto const suffix = name.substr(std::string_view(metric.base).size());
    auto const is = [&](auto const& list) {
      return std::find(std::begin(list), std::end(list), suffix) != std::end(list);
    };
    if (metric.type == CUPTI_METRIC_TYPE_COUNTER ? is(counter_suffixes)
        : metric.type == CUPTI_METRIC_TYPE_RATIO ? is(ratio_suffixes)
                                                 : is(throughput_suffixes))
      return &metric;
  }
  return nullptr;
}

int passes_of(std::vector<std::string> const& names, bool sampling) {
  int slots = 0;
  bool patches = false;
  for (auto const& name : names) {
    auto const& metric = *metric_named(name);
    if (metric.scope == fake_metric::in_kernel) {
      patches = true;  // any number of them takes one pass of its own
    } else {
      slots += sampling ? metric.sampling_slots : metric.range_slots;
    }
  }
  auto const in_pass = sampling ? 3 : 2;
  return (slots + in_pass - 1) / in_pass + (patches ? 1 : 0);
}

}  // namespace

fake_host::object* fake_host::find(CUpti_Profiler_Host_Object* handle) {
  for (auto& each : objects_)
    if (reinterpret_cast<CUpti_Profiler_Host_Object*>(&each) == handle) return &each;
  return nullptr;
}

CUptiResult fake_host::answer(CUpti_Profiler_Host_Initialize_Params* params) {
  if (params->pChipName != std::string_view("GH100")) return CUPTI_ERROR_INVALID_CHIP_NAME;
  auto& made = objects_.emplace_back();
  made.sampling = params->profilerType == CUPTI_PROFILER_TYPE_PM_SAMPLING;
  params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&made);
  return CUPTI_SUCCESS;
}

CUptiResult fake_host::answer(CUpti_Profiler_Host_Deinitialize_Params* params) {
  auto* const known = find(params->pHostObject);
  if (known == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  objects_.remove_if([&](object const& each) { return &each == known; });
  return CUPTI_SUCCESS;
}

CUptiResult fake_host::answer(CUpti_Profiler_Host_GetSupportedChips_Params* params) {
  params->numChips = std::size(chips);
  params->ppChipNames = chips;
  return CUPTI_SUCCESS;
}

CUptiResult fake_host::answer(CUpti_Profiler_Host_GetBaseMetrics_Params* params) {
  auto* const known = find(params->pHostObject);
  if (known == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  known->names.clear();
  for (auto const& metric : table)
    if (metric.type == params->metricType &&
        (known->sampling ? metric.sampling_slots : metric.range_slots) != 0)
      known->names.push_back(metric.base);
  params->ppMetricNames = known->names.data();
  params->numMetrics = known->names.size();
  return CUPTI_SUCCESS;
}

CUptiResult fake_host::answer(CUpti_Profiler_Host_GetSubMetrics_Params* params) {
  auto* const known = find(params->pHostObject);
  if (known == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (params->metricType == CUPTI_METRIC_TYPE_COUNTER) {
    known->names.assign(std::begin(counter_suffixes), std::end(counter_suffixes));
  } else if (params->metricType == CUPTI_METRIC_TYPE_RATIO) {
    known->names.assign(std::begin(ratio_suffixes), std::end(ratio_suffixes));
  } else {
    known->names.assign(std::begin(throughput_suffixes), std::end(throughput_suffixes));
  }
  params->ppSubMetrics = known->names.data();
  params->numOfSubmetrics = known->names.size();
  return CUPTI_SUCCESS;
}

CUptiResult fake_host::answer(CUpti_Profiler_Host_GetMetricProperties_Params* params) {
  std::string_view const name = params->pMetricName;
  for (auto const& metric : table) {
    if (!name.starts_with(metric.base)) continue;
    params->pDescription = "what it counts";
    params->pHwUnit = "sm";
    params->pDimUnit = metric.type == CUPTI_METRIC_TYPE_COUNTER ? "byte" : nullptr;
    params->metricType = metric.type;
    return CUPTI_SUCCESS;
  }
  return CUPTI_ERROR_INVALID_METRIC_NAME;
}

CUptiResult fake_host::answer(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  auto* const known = find(params->pHostObject);
  if (known == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (known->spoilt) return CUPTI_ERROR_UNKNOWN;
  auto all = known->metrics;
  all.insert(all.end(), params->ppMetricNames, params->ppMetricNames + params->numMetrics);
  std::set<bool> of_device;
  auto code = CUPTI_SUCCESS;
  for (auto const& name : all) {
    auto const* const metric = metric_named(name);
    if (metric == nullptr ||
        (known->sampling ? metric->sampling_slots : metric->range_slots) == 0) {
      code = CUPTI_ERROR_INVALID_PARAMETER;
    } else {
      of_device.insert(metric->scope == fake_metric::of_device);
    }
  }
  if (code == CUPTI_SUCCESS && !known->sampling && of_device.size() == 2)
    code = CUPTI_ERROR_NOT_SUPPORTED;
  if (code == CUPTI_SUCCESS) {
    known->metrics = std::move(all);
  } else {
    known->spoilt = true;
  }
  return code;
}

CUptiResult fake_host::answer(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  auto* const known = find(params->pHostObject);
  if (known == nullptr || known->spoilt) return CUPTI_ERROR_UNKNOWN;
  params->configImageSize = 1;
  return CUPTI_SUCCESS;
}

CUptiResult fake_host::answer(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  auto* const known = find(params->pHostObject);
  if (known == nullptr || known->spoilt || params->configImageSize != 1) return CUPTI_ERROR_UNKNOWN;
  *params->pConfigImage = static_cast<std::uint8_t>(passes_of(known->metrics, known->sampling));
  return CUPTI_SUCCESS;
}

CUptiResult fake_host::answer(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  params->numOfPasses = *params->pConfigImage;
  return CUPTI_SUCCESS;
}

}  // namespace gpuprof::test
