// SPDX-License-Identifier: Apache-2.0
// A part of a program that uses CUPTI without tracing, as monitors of counters do: a thread enables
// PM sampling of the first device and keeps it to the end. Built twice: linked against libcupti
// (SECOND_CLIENT_LINKED), and asking dlsym. REPLAY_SECOND_OUTPUT: the file for what came of it.
#include "replay/tests/client/calls.hpp"

#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>

#include <chrono>
#include <dlfcn.h>
#include <thread>

namespace {

#ifdef SECOND_CLIENT_LINKED
#define FUNCTION(name) &::name
#else
#define FUNCTION(name) reinterpret_cast<decltype(&::name)>(dlsym(opened_cupti(), #name))
void* opened_cupti() {
  static void* const library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
  return library;
}
#endif

bool cuda_has_begun() {
  auto* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return false;
  auto const count =
      reinterpret_cast<decltype(&::cuDeviceGetCount)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  return count != nullptr && count(&devices) == CUDA_SUCCESS && devices > 0;
}

CUptiResult enable() {
  auto params = PARAMS(CUpti_Profiler_Initialize_Params);
  auto const code = (FUNCTION(cuptiProfilerInitialize))(&params);
  if (code != CUPTI_SUCCESS) return code;
  auto device = PARAMS(CUpti_PmSampling_Enable_Params);
  return (FUNCTION(cuptiPmSamplingEnable))(&device);
}

void sample() {
  auto code = CUPTI_ERROR_UNKNOWN;
  for (int i = 0; i < 20000 && code != CUPTI_SUCCESS; ++i) {
    if (cuda_has_begun()) code = enable();
    if (code != CUPTI_SUCCESS) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (auto* const file = std::fopen(variable("REPLAY_SECOND_OUTPUT").c_str(), "w")) {
    std::fprintf(file, "code=%d\n", static_cast<int>(code));
    std::fclose(file);
  }
}

__attribute__((constructor)) void begin() {
  std::thread(sample).detach();
}

}  // namespace
