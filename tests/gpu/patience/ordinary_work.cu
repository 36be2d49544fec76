// SPDX-License-Identifier: Apache-2.0
// Ordinary launches, kernels that wait for the host, and the watchdog.
#include "patience.hpp"

#include <new>
#include <unistd.h>

namespace {

constexpr unsigned count = 1 << 14;
constexpr unsigned block = 256;

template <unsigned Factor>
__global__ void multiply_add(unsigned* values, unsigned n) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = values[i];
  for (unsigned round = 0; round < 16 * Factor; ++round) x = x * (2 * Factor + 1) + i;
  values[i] = x;
}

__global__ void rotate(unsigned* values, unsigned n) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = (values[i] << 7) | (values[i] >> 25);
}

__global__ void add_up(unsigned const* values, unsigned n, unsigned* sums) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sums + (i & 31), values[i]);
}

}  // namespace

__global__ void wait_for_flag(int* flag, unsigned* woken) {
  if (threadIdx.x == 0) {
    while (*static_cast<int volatile*>(flag) == 0) __nanosleep(500);
    ++*woken;
  }
}

void start_watchdog() {
  auto const* const wanted = std::getenv("GPU_PATIENCE_SECONDS");
  auto const seconds = wanted != nullptr ? std::atoi(wanted) : 20;
  std::thread([seconds] {
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    char const line[] = "hung\n";
    (void)!write(1, line, sizeof line - 1);
    _exit(7);
  }).detach();
}

cudaStream_t new_stream() {
  cudaStream_t stream{};
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

mapped_word::mapped_word() {
  void *memory = nullptr, *seen_by_gpu = nullptr;
  CUDA_OK(cudaHostAlloc(&memory, 64, cudaHostAllocMapped));
  CUDA_OK(cudaHostGetDevicePointer(&seen_by_gpu, memory, 0));
  on_host_ = new (memory) std::atomic<int>(0);
  on_gpu_ = static_cast<int*>(seen_by_gpu);
}

ordinary_work::ordinary_work() : stream_(new_stream()) {
  CUDA_OK(cudaMalloc(&values_, count * sizeof *values_));
  CUDA_OK(cudaMalloc(&sums_, 32 * sizeof *sums_));
  CUDA_OK(cudaMemset(values_, 1, count * sizeof *values_));
  CUDA_OK(cudaMemset(sums_, 0, 32 * sizeof *sums_));
  // Kernels are loaded when they are first launched, and loading waits: all of them, before
  // anything runs that must not be waited for.
  for (int i = 0; i < 8; ++i) launch();
  CUDA_OK(cudaDeviceSynchronize());
}

void ordinary_work::launch_on(cudaStream_t stream) {
  switch (launched_++ % 4) {
    case 0:
      multiply_add<1><<<count / block, block, 0, stream>>>(values_, count);
      break;
    case 1:
      multiply_add<3><<<count / block, block, 0, stream>>>(values_, count);
      break;
    case 2:
      rotate<<<count / block, block, 0, stream>>>(values_, count);
      break;
    default:
      add_up<<<count / block, block, 0, stream>>>(values_, count, sums_);
  }
  CUDA_OK(cudaGetLastError());
}

void ordinary_work::round() {
  for (int i = 0; i < 8; ++i) launch();
}

std::uint64_t ordinary_work::checksum() {
  wait();
  unsigned sums[32] = {};
  CUDA_OK(cudaMemcpyAsync(sums, sums_, sizeof sums, cudaMemcpyDeviceToHost, stream_));
  wait();
  std::uint64_t all = launched_;
  for (unsigned const sum : sums) all = all * 31 + sum;
  return all;
}

waiting_kernel::waiting_kernel() : stream_(new_stream()) {
  CUDA_OK(cudaMalloc(&woken_, sizeof *woken_));
  CUDA_OK(cudaMemset(woken_, 0, sizeof *woken_));
  CUDA_OK(cudaDeviceSynchronize());
  launch_released();
  wait();
}

void waiting_kernel::launch() {
  flag_.set(0);
  wait_for_flag<<<1, 32, 0, stream_>>>(flag_.on_gpu(), woken_);
  CUDA_OK(cudaGetLastError());
}

void waiting_kernel::launch_released() {
  flag_.set(1);
  wait_for_flag<<<1, 32, 0, stream_>>>(flag_.on_gpu(), woken_);
  CUDA_OK(cudaGetLastError());
}

std::uint64_t waiting_kernel::checksum() {
  wait();
  unsigned woken = 0;
  CUDA_OK(cudaMemcpyAsync(&woken, woken_, sizeof woken, cudaMemcpyDeviceToHost, stream_));
  wait();
  return woken;
}

void warm_up(ordinary_work& work, waiting_kernel* kernel) {
  auto next = steady::now();
  for (int i = 0; i < 150; ++i) {
    work.round();
    if (kernel != nullptr) {
      kernel->launch_released();
      if (i % 4 == 0) kernel->wait();
    }
    if (i % 8 == 0) work.wait();
    if (i % 32 == 0) CUDA_OK(cudaDeviceSynchronize());
    next += std::chrono::milliseconds(10);
    std::this_thread::sleep_until(next);
  }
  CUDA_OK(cudaDeviceSynchronize());
}
