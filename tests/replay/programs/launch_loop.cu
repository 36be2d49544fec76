// SPDX-License-Identifier: Apache-2.0
// 2000 launches of two small kernels from one thread, in an NVTX range for every 100 of them.
#include "check.cuh"

#include <nvtx3/nvToolsExt.h>

__global__ void scale(float* x, float factor) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}

__global__ void add(float* x, float const* y, int n) {
  __shared__ float tile[256];
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? y[i] : 0;
  __syncthreads();
  if (i < n) x[i] += tile[threadIdx.x];
}

int main() {
  constexpr int n = 1 << 16;
  float *x = nullptr, *y = nullptr;
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMalloc(&y, n * sizeof(float)));
  CHECK(cudaMemset(x, 0, n * sizeof(float)));
  CHECK(cudaMemset(y, 0, n * sizeof(float)));
  CHECK(cudaDeviceSynchronize());
  for (int batch = 0; batch < 20; ++batch) {
    nvtxRangePushA("batch");
    for (int i = 0; i < 50; ++i) {
      scale<<<n / 256, 256>>>(x, 1.5f);
      add<<<n / 256, 256>>>(x, y, n);
    }
    CHECK(cudaGetLastError());
    nvtxRangePop();
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  return 0;
}
