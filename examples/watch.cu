// SPDX-License-Identifier: Apache-2.0
// A program that watches itself: while it works it prints what its own ranges achieve.
//
//   nvcc -O2 -arch=native -I<prefix>/include watch.cu -o watch -ldl
//   LD_PRELOAD=<prefix>/lib/libgpuprof_preload.so GPUPROF_METRICS=auto ./watch
//
// GPUPROF_METRICS=sampled holds up no launch; FLOP are not known then, bytes are.
//
// It links no library: gpuprof::metrics finds the profiler where there is one and is empty where
// there is none. With `gpuprof peaks` run before, it also says how far the GPU's peaks are away.
#include <gpuprof/gpuprof.hpp>

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t code, char const* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "watch: %s: %s\n", what, cudaGetErrorString(code));
  std::exit(code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ? 77 : 1);
}

__global__ void multiply_add(float* x, int n, int rounds) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  for (int r = 0; r < rounds; ++r) value = value * 0.999f + 0.001f;
  x[i] = value;
}

__global__ void scale(float const* from, float* to, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = 2 * from[i];
}

/// Figures that are not known yet are NaN, and printed as such.
void print(gpuprof_achieved const& line) {
  std::printf("  %-10s %8llu kernels %9.3f s %9.2f TFLOPS %9.1f GB/s", line.name,
              static_cast<unsigned long long>(line.launch_count), line.seconds, line.flops / 1e12,
              line.dram_bytes_per_second / 1e9);
  if (line.of_peak == line.of_peak)
    std::printf("  %3.0f %% of %s", 100 * line.of_peak, gpuprof::name_of(line.bound_by));
  std::printf("  (%.0f %% exact)\n", 100 * line.exact_share);
}

void print_what_is_achieved(int second) {
  auto const now = gpuprof::metrics::take();
  if (!now) {
    std::printf("watch: no profiler is here, or it reads no counters: see the top of watch.cu\n");
    return;
  }
  std::printf("after %d s:\n", second);
  for (std::size_t i = 0; i < now->range_name_count; ++i) print(*now->ranges[i]);
}

void work(float* a, float* b, int n) {
  int const blocks = (n + 255) / 256;
  {
    gpuprof::scoped_range const here("compute");
    multiply_add<<<blocks, 256>>>(a, n, 2000);
  }
  gpuprof::scoped_range const here("move");
  scale<<<blocks, 256>>>(a, b, n);
}

}  // namespace

int main() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "no GPU to work on");
  constexpr int n = 1 << 26;
  float *a = nullptr, *b = nullptr;
  for (float** data : {&a, &b}) check(cudaMalloc(data, n * sizeof(float)), "cudaMalloc");
  check(cudaMemset(a, 0, n * sizeof(float)), "cudaMemset");

  for (int second = 1; second <= 5; ++second) {
    auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (std::chrono::steady_clock::now() < until) {
      gpuprof::scoped_range const here("step");
      work(a, b, n);
      check(cudaDeviceSynchronize(), "the kernels");
    }
    print_what_is_achieved(second);
  }
  for (float* data : {a, b}) cudaFree(data);
  return 0;
}
