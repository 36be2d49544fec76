// SPDX-License-Identifier: Apache-2.0
// A program whose functions are known: each makes one kind of call. "native_calls STEPS" prints "name value" lines:
// how often each was called, and the median time of a launch.
#include "cuda_ok.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace native {

// Every function does something after its call, so that none is left early.
int volatile calls = 0;

__global__ void scale(float* values, float by) {
  values[blockIdx.x * blockDim.x + threadIdx.x] *= by;
}

__attribute__((noinline)) float* allocates(std::size_t count) {
  float* memory = nullptr;
  CUDA_OK(cudaMalloc(&memory, count * sizeof(float)));
  calls = calls + 1;
  return memory;
}

__attribute__((noinline)) void launches(float* values, int blocks) {
  scale<<<blocks, 256>>>(values, 1.5f);
  calls = calls + 1;
}

__attribute__((noinline)) void copies(float* to, float const* from, std::size_t count) {
  CUDA_OK(cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice));
  calls = calls + 1;
}

__attribute__((noinline)) void waits() {
  CUDA_OK(cudaDeviceSynchronize());
  calls = calls + 1;
}

struct step {
  __attribute__((noinline)) void run(float* a, float* b, int blocks) {
    launches(a, blocks);
    copies(b, a, std::size_t{256} * blocks);
    waits();
    calls = calls + 1;
  }
};

}  // namespace native

int main(int count, char** words) {
  auto const steps = count > 1 ? std::atoi(words[1]) : 200;
  constexpr int blocks = 64 * 1024;
  auto* const a = native::allocates(std::size_t{256} * blocks);
  auto* const b = native::allocates(std::size_t{256} * blocks);
  for (int i = 0; i < steps; ++i) native::step().run(a, b, blocks);
  std::vector<double> each;
  for (int i = 0; i < 20000; ++i) {
    auto const begin = std::chrono::steady_clock::now();
    native::launches(a, 1);
    each.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count());
    if (i % 500 == 499) native::waits();
  }
  std::sort(each.begin(), each.end());
  std::printf("steps %d\nlaunch_ns %.1f\n", steps, each[each.size() / 2]);
  return 0;
}
