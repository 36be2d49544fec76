// SPDX-License-Identifier: Apache-2.0
// A program that profiles itself: markers, a capture of chosen steps, totals while it runs.
//
//   nvcc -O2 -arch=native -I<prefix>/include markers.cu -o markers -L<prefix>/lib -lgpuprof -ldl
//   LD_LIBRARY_PATH=<prefix>/lib GPUPROF_CAPTURE_RANGE=cudaProfilerApi ./markers
//   gpuprof stats -r nvtx_gpu_proj_sum report1.gpuprof
//
// With that variable nothing is captured until the program says so: steps 10 to 19. Without it the
// capture begins with CUDA and ends at gpuprof_stop(). "transfer" is a range that begins in one
// function and ends on another thread. CMake: target_link_libraries(app PRIVATE gpuprof::gpuprof).
#include <gpuprof/gpuprof.h>
#include <gpuprof/gpuprof.hpp>

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

namespace {

void check(cudaError_t code, char const* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "markers: %s: %s\n", what, cudaGetErrorString(code));
  std::exit(code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ? 77 : 1);
}

__global__ void update(float* weights, float const* gradients, float rate, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) weights[i] -= rate * gradients[i];
}

__global__ void differentiate(float const* weights, float* gradients, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) gradients[i] = 2 * weights[i] + 0.5f;
}

constexpr int n = 1 << 20;
constexpr int blocks = (n + 255) / 256;

gpuprof::domain const& trainer() {
  static gpuprof::domain const made("trainer");
  return made;
}

void train_one_step(float* weights, float* gradients) {
  gpuprof::scoped_range const step(trainer(), "step", {}, gpuprof::color::green);
  {
    gpuprof::scoped_range const backward("backward", gpuprof::work{2.0 * n, 8.0 * n});
    differentiate<<<blocks, 256>>>(weights, gradients, n);
  }
  gpuprof::scoped_range const optimizer("optimizer", gpuprof::work{2.0 * n, 12.0 * n});
  update<<<blocks, 256>>>(weights, gradients, 0.01f, n);
  check(cudaGetLastError(), "launch");
}

gpuprof::range begin_transfer(float const* from, std::vector<float>& to) {
  gpuprof::range transfer("transfer");
  check(cudaMemcpyAsync(to.data(), from, n * sizeof(float), cudaMemcpyDeviceToHost), "copy back");
  return transfer;  // still open
}

void print_totals() {
  gpuprof_totals const* totals = nullptr;
  if (gpuprof_take_totals(&totals) != GPUPROF_OK) {
    std::printf("markers: nothing was captured\n");
    return;
  }
  for (std::size_t i = 0; i < totals->range_name_count; ++i) {
    auto const& range = *totals->ranges[i];
    std::printf("markers: %-16s %6llu times %10.3f ms on the GPU\n", range.name,
                static_cast<unsigned long long>(range.range_count),
                static_cast<double>(range.gpu_ns) / 1e6);
  }
  gpuprof_release_totals(totals);
}

}  // namespace

int main() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "no GPU to work on");
  float *weights = nullptr, *gradients = nullptr;
  check(cudaMalloc(&weights, n * sizeof(float)), "cudaMalloc");
  check(cudaMalloc(&gradients, n * sizeof(float)), "cudaMalloc");
  check(cudaMemset(weights, 0, n * sizeof(float)), "cudaMemset");

  for (int step = 0; step < 20; ++step) {
    if (step == 10) gpuprof_start(nullptr);
    train_one_step(weights, gradients);
  }
  std::vector<float> host(n);
  auto transfer = begin_transfer(weights, host);
  check(cudaDeviceSynchronize(), "the steps");
  std::thread([t = std::move(transfer)]() mutable { t.end(); }).join();
  gpuprof_stop();

  print_totals();
  std::printf("markers: done, weight %g\n", static_cast<double>(host[0]));
  return 0;
}
