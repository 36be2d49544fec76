// SPDX-License-Identifier: Apache-2.0
// A matrix product in named ranges that say how much work they do. Build and run it:
//
//   nvcc -O2 -arch=native -I<prefix>/include gemm_ranges.cu -o gemm_ranges -ldl
//   gpuprof profile -o gemm.gpuprof ./gemm_ranges
//   gpuprof stats -r cuda_gpu_kern_sum -r nvtx_gpu_proj_sum gemm.gpuprof
//
// It links no library: the markers are NVTX, cost nothing alone, and any NVTX tool shows them. The
// report gives GPU time to "step", and within it to "gemm" and "activation"; the declared
// operations of "gemm" are there to divide by its time.
#include <gpuprof/gpuprof.hpp>

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(cudaError_t code, char const* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "gemm_ranges: %s: %s\n", what, cudaGetErrorString(code));
  std::exit(code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ? 77 : 1);
}

constexpr int tile = 16;

__global__ void gemm(float const* a, float const* b, float* c, int n) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  int const row = blockIdx.y * tile + threadIdx.y;
  int const column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += tile) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void activation(float* x, int count) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] = x[i] > 0 ? x[i] : 0.1f * x[i];
}

void multiply(float const* a, float const* b, float* c, int n) {
  double const size = n;
  gpuprof::scoped_range const here(
      "gemm", gpuprof::work{2 * size * size * size, 3 * size * size * sizeof(float)},
      gpuprof::color::blue);
  gemm<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(a, b, c, n);
}

void activate(float* x, int count) {
  gpuprof::scoped_range const here;  // named after the function
  activation<<<(count + 255) / 256, 256>>>(x, count);
}

}  // namespace

int main() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "no GPU to work on");
  constexpr int n = 1024;
  constexpr std::size_t bytes = sizeof(float) * n * n;
  std::vector<float> const host(n * n, 0.01f);
  float *a = nullptr, *b = nullptr, *c = nullptr;
  for (float** matrix : {&a, &b, &c}) check(cudaMalloc(matrix, bytes), "cudaMalloc");

  gpuprof::in_range("load", [&] {
    check(cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice), "copy to the GPU");
    check(cudaMemcpy(b, host.data(), bytes, cudaMemcpyHostToDevice), "copy to the GPU");
  });
  for (int step = 0; step < 20; ++step) {
    gpuprof::scoped_range const here("step");
    multiply(a, b, c, n);
    activate(c, n * n);
    multiply(c, b, a, n);
    check(cudaGetLastError(), "launch");
  }
  check(cudaDeviceSynchronize(), "the steps");
  std::printf("gemm_ranges: 20 steps of 2 products of %d x %d\n", n, n);
  return 0;
}
