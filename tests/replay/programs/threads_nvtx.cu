// SPDX-License-Identifier: Apache-2.0
// Eight threads with a stream each and nested NVTX ranges of every sort.
#include "check.cuh"

#include <nvtx3/nvToolsExt.h>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

__global__ void spin(float* x, int rounds) {
  float v = x[threadIdx.x];
  for (int i = 0; i < rounds; ++i) v = v * 1.0001f + 0.5f;
  x[threadIdx.x] = v;
}

static nvtxDomainHandle_t domain;
static nvtxStringHandle_t forward_name;

static nvtxEventAttributes_t attributes(char const* text, uint32_t color, int64_t payload) {
  nvtxEventAttributes_t a = {};
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.category = 7;
  a.colorType = NVTX_COLOR_ARGB;
  a.color = color;
  a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  a.payload.llValue = payload;
  a.messageType = text != nullptr ? NVTX_MESSAGE_TYPE_ASCII : NVTX_MESSAGE_TYPE_REGISTERED;
  if (text != nullptr) a.message.ascii = text; else a.message.registered = forward_name;
  return a;
}

static void work(int id, nvtxRangeId_t whole) {
  nvtxNameOsThreadA(static_cast<uint32_t>(syscall(SYS_gettid)), ("worker " + std::to_string(id)).c_str());
  float* x = nullptr;
  cudaStream_t stream;
  CHECK(cudaMalloc(&x, 1024));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMemsetAsync(x, 0, 1024, stream));
  for (int i = 0; i < 25; ++i) {
    nvtxRangePushA("iteration");
    auto const forward = attributes(nullptr, 0xff00ff00u, i);
    nvtxDomainRangePushEx(domain, &forward);
    spin<<<1 + id, 256, 0, stream>>>(x, 200);
    nvtxRangePushW(L"inn\u00e9r");
    spin<<<1, 128, 0, stream>>>(x, 100 * (id + 1));
    nvtxRangePop();
    nvtxDomainRangePop(domain);
    auto const done = attributes("done", 0xffff0000u, -i);
    nvtxDomainMarkEx(domain, &done);
    nvtxRangePop();
  }
  CHECK(cudaStreamSynchronize(stream));
  if (id == 0) nvtxRangeEnd(whole);  // opened on the main thread
  CHECK(cudaFree(x));
  CHECK(cudaStreamDestroy(stream));
}

int main() {
  CHECK(cudaFree(nullptr));
  domain = nvtxDomainCreateA("model");
  forward_name = nvtxDomainRegisterStringA(domain, "forward");
  nvtxDomainNameCategoryA(domain, 7, "layers");
  nvtxRangeId_t const whole = nvtxRangeStartA("whole run");
  std::vector<std::thread> threads;
  for (int id = 0; id < 8; ++id) threads.emplace_back(work, id, whole);
  for (auto& t : threads) t.join();
  CHECK(cudaDeviceSynchronize());
  return 0;
}
