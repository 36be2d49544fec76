// SPDX-License-Identifier: Apache-2.0
// A CUDA program that knows nothing of profilers. Build and run it:
//
//   nvcc -O2 -arch=native unaware.cu -o unaware
//   gpuprof profile -o unaware.gpuprof ./unaware        # or, with no command at all:
//   LD_PRELOAD=/path/to/libgpuprof_preload.so GPUPROF_OUTPUT=unaware.gpuprof ./unaware
//   gpuprof stats unaware.gpuprof
//
// It copies a vector to the GPU, works on it in two streams, once more through a CUDA graph, and
// copies it back. The report shows three kernels, the copies, and which of them wait for memory.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(cudaError_t code, char const* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "unaware: %s: %s\n", what, cudaGetErrorString(code));
  std::exit(code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ? 77 : 1);
}

__global__ void scale(float* x, float factor, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

__global__ void add(float* x, float const* y, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += y[i];
}

// Busy with arithmetic, not with memory.
__global__ void iterate(float* x, int n, int rounds) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  for (int r = 0; r < rounds; ++r) value = value * 0.999f + 0.001f;
  x[i] = value;
}

}  // namespace

int main() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "no GPU to work on");
  constexpr int n = 1 << 22;
  constexpr int blocks = (n + 255) / 256;
  std::vector<float> host(n, 1.0f);
  float *x = nullptr, *y = nullptr;
  check(cudaMalloc(&x, n * sizeof(float)), "cudaMalloc");
  check(cudaMalloc(&y, n * sizeof(float)), "cudaMalloc");
  cudaStream_t first{}, second{};
  check(cudaStreamCreate(&first), "cudaStreamCreate");
  check(cudaStreamCreate(&second), "cudaStreamCreate");

  check(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice), "copy to the GPU");
  check(cudaMemset(y, 0, n * sizeof(float)), "cudaMemset");
  for (int round = 0; round < 50; ++round) {
    scale<<<blocks, 256, 0, first>>>(x, 1.001f, n);
    iterate<<<blocks, 256, 0, second>>>(y, n, 200);
  }
  check(cudaDeviceSynchronize(), "two streams");

  cudaGraph_t graph{};
  cudaGraphExec_t ready{};
  check(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  for (int i = 0; i < 10; ++i) add<<<blocks, 256, 0, first>>>(x, y, n);
  check(cudaStreamEndCapture(first, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  for (int i = 0; i < 5; ++i) check(cudaGraphLaunch(ready, first), "cudaGraphLaunch");

  check(cudaMemcpyAsync(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost, first),
        "copy back");
  check(cudaDeviceSynchronize(), "the graph");
  std::printf("unaware: done, x[0] = %g\n", host[0]);
  return 0;
}
