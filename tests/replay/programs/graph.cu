// SPDX-License-Identifier: Apache-2.0
// A captured graph of 100 kernels launched 20 times, and one that also sets and copies memory.
#include "check.cuh"

#include <nvtx3/nvToolsExt.h>

__global__ void step(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

static cudaGraphExec_t capture(cudaStream_t stream, float* x, float* y, int kernels, bool memory) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  if (memory) CHECK(cudaMemsetAsync(x, 0, 4096, stream));
  for (int i = 0; i < kernels; ++i) step<<<4, 256, 0, stream>>>(x);
  if (memory) CHECK(cudaMemcpyAsync(y, x, 4096, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  return executable;
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaStream_t stream;
  CHECK(cudaMalloc(&x, 4096));
  CHECK(cudaMalloc(&y, 4096));
  CHECK(cudaMemset(x, 0, 4096));
  CHECK(cudaStreamCreate(&stream));
  step<<<4, 256, 0, stream>>>(x);  // outside of any graph

  nvtxRangePushA("capture");
  cudaGraphExec_t const kernels = capture(stream, x, y, 100, false);
  cudaGraphExec_t const mixed = capture(stream, x, y, 3, true);
  nvtxRangePop();

  nvtxRangePushA("kernels");
  for (int i = 0; i < 20; ++i) CHECK(cudaGraphLaunch(kernels, stream));
  CHECK(cudaStreamSynchronize(stream));
  nvtxRangePop();

  nvtxRangePushA("mixed");
  for (int i = 0; i < 5; ++i) CHECK(cudaGraphLaunch(mixed, stream));
  CHECK(cudaStreamSynchronize(stream));
  nvtxRangePop();

  CHECK(cudaGraphExecDestroy(kernels));
  CHECK(cudaGraphExecDestroy(mixed));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaDeviceSynchronize());
  return 0;
}
