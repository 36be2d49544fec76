// SPDX-License-Identifier: Apache-2.0
// gpu_rewriting WORD...: counts the FMA of one launch with a counter for which CUPTI rewrites the
// kernel, and prints what it counted beside what ran. The words say what else is on.
#include "guest/counters/launches/range_profiler.hpp"
#include "guest/cupti/chip_name.hpp"
#include "guest/cupti/loader.hpp"
#include "guest/metrics/planning/host_profiler.hpp"
#include "rewritten_kernels.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <string_view>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

[[noreturn]] void fail(std::string const& why) {
  std::printf("failed %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T value_of(result<T>&& given) {
  if (!given) fail(given.message());
  return *std::move(given);
}
void check(result<void> const& done) {
  if (!done) fail(done.message());
}

std::vector<std::string_view> words;
bool is_said(std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

loaded_cupti cupti;
range_profiler* profiler = nullptr;
bool armed = false;  // the next launching call opens the range

std::size_t records = 0;

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *size = 1 << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  std::memset(*buffer, 0, *size);
  *most = 0;
}
void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                       std::size_t bytes) {
  CUpti_Activity* record = nullptr;
  while (cupti.api.cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS) ++records;
  std::free(buffer);
}

CUpti_ActivityKind traced_kind() {
  return is_said("serialized") ? CUPTI_ACTIVITY_KIND_KERNEL : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

/// Off around the launch, in this context or in all.
void untrace(CUcontext context, bool off) {
  auto const name = off ? "cuptiActivityDisableContext" : "cuptiActivityEnableContext";
  auto const begin = std::chrono::steady_clock::now();
  CUptiResult code;
  if (is_said("in-context")) {
    auto const call = reinterpret_cast<CUptiResult (*)(CUcontext, CUpti_ActivityKind)>(
        dlsym(dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD), name));
    code = call(context, traced_kind());
  } else {
    code = off ? cupti.api.cuptiActivityDisable(traced_kind())
               : cupti.api.cuptiActivityEnable(traced_kind());
  }
  std::chrono::duration<double, std::micro> const took = std::chrono::steady_clock::now() - begin;
  std::printf("[%s %d %.1f us] ", off ? "off" : "on", code, took.count());
}

std::string range_name;
bool opened_inside = false;

/// As the library does it: all in the callbacks of the launching call.
void CUPTIAPI on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, void const* data) {
  auto const& call = *static_cast<CUpti_CallbackData const*>(data);
  if (profiler == nullptr) return;
  if (call.callbackSite == CUPTI_API_ENTER && armed) {
    armed = false;
    if (is_said("untraced-inside")) untrace(call.context, true);
    profiler->push(range_name.c_str());
    opened_inside = is_said("closed-inside");
  } else if (call.callbackSite == CUPTI_API_EXIT && opened_inside) {
    opened_inside = false;
    cudaDeviceSynchronize();
    if (!profiler->pop()) fail("pop");
    if (is_said("untraced-inside")) untrace(call.context, false);
  }
}

/// Launches that have to fit the GPU at once, with kernels that CUPTI has made larger.
void count_cooperative(host_profiler const& host, std::vector<std::string> const& metrics,
                       float* out) {
  auto const kernels = cooperative_kernels();
  std::vector<cudaError_t> launched;
  for (auto const& kernel : kernels) {
    profiler->push(std::to_string(launched.size()).c_str());
    launched.push_back(kernel.launch(out, kernel.grid));
    if (launched.back() == cudaSuccess) launched.back() = cudaDeviceSynchronize();
    if (!profiler->pop()) fail("pop");
  }
  value_of(profiler->stop());
  auto const counted = value_of(profiler->decode());
  for (std::size_t i = 0; i < counted.names.size(); ++i) {
    auto const which = static_cast<std::size_t>(std::atoi(counted.names[i].c_str()));
    auto const& kernel = kernels[which];
    std::printf("%d registers, %d blocks of %d: %s, counted / known %.4f\n", kernel.registers,
                kernel.grid, kernel.block, cudaGetErrorName(launched[which]),
                value_of(host.evaluate(counted.image, i, metrics))[0] / kernel.fma);
  }
}

void trace_kernels() {
  cupti.api.cuptiActivityRegisterCallbacks(request, complete);
  cupti.api.cuptiActivityEnable(traced_kind());
}

void subscribe() {
  CUpti_SubscriberHandle subscriber{};
  if (cupti.api.cuptiSubscribe(&subscriber, on_call, nullptr) != CUPTI_SUCCESS)
    fail("cuptiSubscribe");
  auto const enable = [&](CUpti_CallbackDomain domain, std::uint32_t cbid) {
    cupti.api.cuptiEnableCallback(1, subscriber, domain, cbid);
  };
  if (is_said("runtime")) {
    enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
    enable(CUPTI_CB_DOMAIN_RUNTIME_API, 505);  // __cudaLaunchKernel_v13000
  } else {
    enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
    enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
  }
}

}  // namespace

int main(int count, char** values) {
  words.assign(values + 1, values + count);
  cupti = value_of(load_cupti(13));
  open_nvperf_host(cupti);
  if (is_said("subscribed-first")) subscribe();
  if (is_said("traced-first")) trace_kernels();
  float* out = nullptr;
  if (cudaMalloc(&out, 4) != cudaSuccess) fail("cudaMalloc");
  if (is_said("subscribed")) subscribe();
  if (is_said("traced")) trace_kernels();
  if (is_said("launched-before")) multiply_and_add(out);
  cudaDeviceSynchronize();

  CUpti_Profiler_Initialize_Params initialize{CUpti_Profiler_Initialize_Params_STRUCT_SIZE,
                                              nullptr};
  if (cupti.api.cuptiProfilerInitialize(&initialize) != CUPTI_SUCCESS)
    fail("cuptiProfilerInitialize");
  std::vector<std::string> const metrics = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"};
  auto const host =
      value_of(host_profiler::open(cupti.api, counter_engine::ranges, chip_name(cupti.api, 0)));
  CUcontext context = nullptr;
  auto const current = reinterpret_cast<decltype(&cuCtxGetCurrent)>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxGetCurrent"));
  if (current == nullptr || current(&context) != CUDA_SUCCESS) fail("cuCtxGetCurrent");
  auto const opened = value_of(range_profiler::open(cupti.api, context));
  auto const setup = value_of(opened->make_setup(value_of(host.configure(metrics)), metrics, 8));
  check(opened->configure(setup));
  check(opened->start());
  profiler = opened.get();
  if (is_said("traced-last")) trace_kernels();

  if (is_said("cooperative")) return count_cooperative(host, metrics, out), 0;
  if (is_said("launched-inside")) multiply_and_add(out);
  if (is_said("other-before")) something_else(out);
  cudaDeviceSynchronize();
  for (int round = 0; round < (is_said("untraced") || is_said("untraced-inside") ? 3 : 1);
       ++round) {
    if (is_said("untraced")) {
      multiply_and_add(out);
      if (is_said("idle")) cudaDeviceSynchronize();
      untrace(context, true);
    }
    range_name = std::to_string(round);
    armed = is_said("in-callback");
    if (!armed) profiler->push(range_name.c_str());
    multiply_and_add(out);
    cudaDeviceSynchronize();
    if (!is_said("closed-inside") && !profiler->pop()) fail("pop");
    if (is_said("untraced-inside") && !is_said("closed-inside")) untrace(context, false);
    if (is_said("untraced")) untrace(context, false);
  }
  multiply_and_add(out);
  cudaDeviceSynchronize();
  value_of(profiler->stop());
  auto const counted = value_of(profiler->decode());
  cupti.api.cuptiActivityFlushAll(1);
  std::printf("[%zu records]", records);
  for (std::size_t i = 0; i < counted.names.size(); ++i)
    std::printf(" %.0f", value_of(host.evaluate(counted.image, i, metrics))[0]);
  std::printf(" of %.0f\n", fma_of_a_launch);
  return 0;
}
