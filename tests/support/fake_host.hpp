// SPDX-License-Identifier: Apache-2.0
// Plays CUPTI's host API for tests: one small chip whose passes can be counted on fingers.
#pragma once

#include <cupti.h>
#include <cupti_profiler_host.h>

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::test {

/// The chip is GH100. A pass of the range profiler holds two slots, one of the sampler three; what
/// each metric takes is in the table in fake_host.cpp. As in CUPTI, a refused name spoils its
/// object.
class fake_host {
 public:
  CUptiResult answer(CUpti_Profiler_Host_Initialize_Params* params);
  CUptiResult answer(CUpti_Profiler_Host_Deinitialize_Params* params);
  CUptiResult answer(CUpti_Profiler_Host_GetSupportedChips_Params* params);
  CUptiResult answer(CUpti_Profiler_Host_GetBaseMetrics_Params* params);
  CUptiResult answer(CUpti_Profiler_Host_GetSubMetrics_Params* params);
  CUptiResult answer(CUpti_Profiler_Host_GetMetricProperties_Params* params);
  CUptiResult answer(CUpti_Profiler_Host_ConfigAddMetrics_Params* params);
  CUptiResult answer(CUpti_Profiler_Host_GetConfigImageSize_Params* params);
  CUptiResult answer(CUpti_Profiler_Host_GetConfigImage_Params* params);
  CUptiResult answer(CUpti_Profiler_Host_GetNumOfPasses_Params* params);

  /// Objects that were made and not yet released.
  std::size_t living_objects() const noexcept { return objects_.size(); }

 private:
  struct object {
    bool sampling = false;
    bool spoilt = false;
    std::vector<std::string> metrics;
    std::vector<char const*> names;  // what a list in an answer points to
  };
  object* find(CUpti_Profiler_Host_Object* handle);

  std::list<object> objects_;
};

}  // namespace gpuprof::test
