// SPDX-License-Identifier: Apache-2.0
// Plays CUPTI's PM sampling for tests: GPUs whose samples the test makes up.
#pragma once

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace gpuprof::test {

class fake_sampling {
 public:
  struct sample {
    std::uint64_t start = 0, end = 0;
    double value = 0;  // of its first metric; of the second one more, and so on
  };

  /// What the hardware's buffer of this GPU holds, to be decoded.
  std::deque<sample> waiting[8];
  /// The next decode says that the buffer ran over.
  bool overflows = false;
  /// The buffer is never empty: each decode fills the image with the same sample.
  bool never_ends = false;

  struct object {
    std::size_t device = 0;
    bool configured = false, started = false;
    std::uint64_t interval_ns = 0;
    std::size_t config_struct_bytes = 0;
    int trigger = -1;
  };
  /// Those that are enabled.
  std::list<object> const& objects() const noexcept { return objects_; }
  /// Calls in an order that CUPTI does not allow, and images that were used twice.
  std::vector<std::string> const& mistakes() const noexcept { return mistakes_; }

  CUptiResult answer(CUpti_PmSampling_GetCounterAvailability_Params* params);
  CUptiResult answer(CUpti_PmSampling_Enable_Params* params);
  CUptiResult answer(CUpti_PmSampling_Disable_Params* params);
  CUptiResult answer(CUpti_PmSampling_SetConfig_Params* params);
  CUptiResult answer(CUpti_PmSampling_Start_Params* params);
  CUptiResult answer(CUpti_PmSampling_Stop_Params* params);
  CUptiResult answer(CUpti_PmSampling_GetCounterDataSize_Params* params);
  CUptiResult answer(CUpti_PmSampling_CounterDataImage_Initialize_Params* params);
  CUptiResult answer(CUpti_PmSampling_DecodeData_Params* params);
  CUptiResult answer(CUpti_PmSampling_GetCounterDataInfo_Params* params);
  CUptiResult answer(CUpti_PmSampling_CounterData_GetSampleInfo_Params* params);
  CUptiResult answer(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params);

 private:
  object* find(CUpti_PmSampling_Object* handle, char const* who);
  CUptiResult mistake(std::string what);

  std::list<object> objects_;
  std::vector<std::string> mistakes_;
};

}  // namespace gpuprof::test
