// SPDX-License-Identifier: Apache-2.0
// Copies in every direction, sets and kernels on four streams, from pinned and pageable memory.
#include "check.cuh"

#include <nvtx3/nvToolsExt.h>
#include <vector>

__global__ void touch(float* x, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * 2 + 1;
}

int main() {
  constexpr int streams = 4, n = 1 << 20;
  constexpr size_t bytes = n * sizeof(float);
  cudaStream_t stream[streams];
  float *device[streams], *other[streams], *pinned[streams];
  for (int s = 0; s < streams; ++s) {
    CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device[s], bytes));
    CHECK(cudaMalloc(&other[s], bytes));
    CHECK(cudaMallocHost(&pinned[s], bytes));
  }
  std::vector<float> pageable(n, 1.0f);

  for (int round = 0; round < 10; ++round) {
    nvtxRangePushA("asynchronous");
    for (int s = 0; s < streams; ++s) {
      CHECK(cudaMemcpyAsync(device[s], pinned[s], bytes, cudaMemcpyHostToDevice, stream[s]));
      touch<<<n / 256, 256, 0, stream[s]>>>(device[s], n);
      CHECK(cudaMemcpyAsync(other[s], device[s], bytes, cudaMemcpyDeviceToDevice, stream[s]));
      CHECK(cudaMemsetAsync(device[s], 0, bytes, stream[s]));
      CHECK(cudaMemcpyAsync(pinned[s], other[s], bytes, cudaMemcpyDeviceToHost, stream[s]));
    }
    for (int s = 0; s < streams; ++s) CHECK(cudaStreamSynchronize(stream[s]));
    nvtxRangePop();

    nvtxRangePushA("synchronous");
    CHECK(cudaMemcpy(device[0], pageable.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(other[0], 1, bytes / 2));
    CHECK(cudaMemcpy(pageable.data(), device[0], bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy2D(other[1], 2048, pinned[1], 4096, 2048, 512, cudaMemcpyHostToDevice));
    nvtxRangePop();
  }
  float* pooled = nullptr;
  CHECK(cudaMallocAsync(&pooled, bytes, stream[0]));
  CHECK(cudaMemsetAsync(pooled, 0, bytes, stream[0]));
  CHECK(cudaFreeAsync(pooled, stream[0]));
  CHECK(cudaDeviceSynchronize());
  for (int s = 0; s < streams; ++s) {
    CHECK(cudaFree(device[s]));
    CHECK(cudaFree(other[s]));
    CHECK(cudaFreeHost(pinned[s]));
    CHECK(cudaStreamDestroy(stream[s]));
  }
  return 0;
}
