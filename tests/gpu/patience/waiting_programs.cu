// SPDX-License-Identifier: Apache-2.0
// Kernels, streams and host functions that wait for what the host does next: each hangs when a
// launch is held up until the GPU is idle.
#include "patience.hpp"

#include <cuda.h>

#include <dlfcn.h>

namespace {

/// Two of them meet when both run: each counts itself in, then waits for as many of the other.
__global__ void meet(unsigned* mine, unsigned* theirs) {
  if (threadIdx.x != 0) return;
  unsigned const times = atomicAdd(mine, 1u) + 1;
  while (atomicAdd(theirs, 0u) < times) __nanosleep(200);
}

int finish(ordinary_work& work, std::uint64_t more, steady::time_point start) {
  print("checksum", work.checksum() + (more << 32));
  print("seconds", seconds_since(start));
  return 0;
}

}  // namespace

int persistent() {
  auto const start = steady::now();
  ordinary_work work;
  waiting_kernel kernel;
  warm_up(work, &kernel);
  for (int i = 0; i < repetitions; ++i) {
    kernel.launch();
    for (int beside = 0; beside < 5; ++beside) {
      work.round();
      work.wait();
    }
    kernel.release();  // what ran beside it has ended
    kernel.wait();
    work.round();
  }
  return finish(work, kernel.checksum(), start);
}

int host_flag() {
  auto const start = steady::now();
  ordinary_work work;
  waiting_kernel kernel;
  cudaEvent_t event{};
  CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  void *pinned = nullptr, *device = nullptr;
  CUDA_OK(cudaMallocHost(&pinned, 4096));
  CUDA_OK(cudaMalloc(&device, 4096));
  // Once beforehand, for what the first call of each kind may wait for by itself.
  CUDA_OK(cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, work.stream()));
  CUDA_OK(cudaMemsetAsync(device, 0, 4096, kernel.stream()));
  CUDA_OK(cudaEventRecord(event, kernel.stream()));
  warm_up(work, &kernel);
  for (int i = 0; i < 3 * repetitions; ++i) {
    kernel.launch();
    switch (i % 6) {  // the next call, whatever it is
      case 0:
        work.launch();
        break;
      case 1:
        work.launch_on(kernel.stream());
        break;
      case 2:
        CUDA_OK(cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, work.stream()));
        break;
      case 3:
        CUDA_OK(cudaMemsetAsync(device, 0, 4096, kernel.stream()));
        break;
      case 4:
        CUDA_OK(cudaEventRecord(event, kernel.stream()));
        break;
      default:
        (void)cudaStreamQuery(kernel.stream());
    }
    kernel.release();
    kernel.wait();
    work.round();
    work.wait();  // two streams work on one buffer: in turns
  }
  return finish(work, kernel.checksum(), start);
}

int two_streams() {
  auto const start = steady::now();
  ordinary_work work;
  cudaStream_t const streams[2] = {new_stream(), new_stream()};
  unsigned* counts = nullptr;
  CUDA_OK(cudaMalloc(&counts, 64 * sizeof *counts));
  CUDA_OK(cudaMemset(counts, 0, 64 * sizeof *counts));
  CUDA_OK(cudaDeviceSynchronize());
  meet<<<1, 32, 0, streams[0]>>>(counts + 32, counts + 32);  // with itself: loads it
  CUDA_OK(cudaDeviceSynchronize());
  auto const together = [&] {
    meet<<<1, 32, 0, streams[0]>>>(counts, counts + 1);
    meet<<<1, 32, 0, streams[1]>>>(counts + 1, counts);
    CUDA_OK(cudaGetLastError());
  };
  warm_up(work, nullptr);
  for (int i = 0; i < 20 * repetitions; ++i) {
    together();
    if (i % 4 == 0) work.round();
    if (i % 16 == 0) CUDA_OK(cudaStreamSynchronize(streams[i / 16 % 2]));
    if (i % 100 == 0) CUDA_OK(cudaDeviceSynchronize());
  }
  CUDA_OK(cudaDeviceSynchronize());
  unsigned met[2] = {};
  CUDA_OK(cudaMemcpy(met, counts, sizeof met, cudaMemcpyDeviceToHost));
  return finish(work, met[0] + met[1], start);
}

int wait_value() {
  auto const start = steady::now();
  ordinary_work work;
  cudaStream_t const stream = new_stream();
  mapped_word word;
  // By name: a program linked with libcuda does not start where there is no driver.
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto const wait = reinterpret_cast<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
      driver == nullptr ? nullptr : dlsym(driver, "cuStreamWaitValue32_v2"));
  if (wait == nullptr || wait(stream, reinterpret_cast<CUdeviceptr>(word.on_gpu()), 0,
                              CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS) {
    print("not_supported", std::uint64_t{1});
    return 0;
  }
  warm_up(work, nullptr);
  for (int i = 1; i <= 3 * repetitions; ++i) {
    if (wait(stream, reinterpret_cast<CUdeviceptr>(word.on_gpu()), static_cast<cuuint32_t>(i),
             CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS)
      return 4;
    work.launch_on(stream);
    word.set(i);
    CUDA_OK(cudaStreamSynchronize(stream));
    work.round();
    work.wait();
  }
  return finish(work, static_cast<std::uint64_t>(word.get()), start);
}

int host_function() {
  auto const start = steady::now();
  ordinary_work work, beside;
  cudaStream_t const stream = new_stream();
  std::atomic<int> launched{0}, waited{0};
  struct request {
    std::atomic<int>*launched, *waited;
    int until;
  };
  std::vector<request> requests(3 * repetitions);
  warm_up(work, nullptr);
  for (int i = 0; i < 3 * repetitions; ++i) {
    requests[i] = {&launched, &waited, i + 1};
    work.launch_on(stream);
    CUDA_OK(cudaLaunchHostFunc(
        stream,
        [](void* given) {
          auto const& asked = *static_cast<request*>(given);
          while (asked.launched->load() < asked.until) std::this_thread::yield();
          ++*asked.waited;
        },
        &requests[i]));
    if (i % 2 == 0)
      work.launch_on(stream);  // behind it
    else
      beside.launch();  // beside it
    launched = i + 1;
    CUDA_OK(cudaStreamSynchronize(stream));
    work.round();
    work.wait();
  }
  return finish(work, beside.checksum() % 65521 + static_cast<std::uint64_t>(waited), start);
}

int event_wait() {
  auto const start = steady::now();
  ordinary_work behind, beside;
  waiting_kernel kernel;
  cudaEvent_t event{};
  CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  warm_up(behind, &kernel);
  for (int i = 0; i < repetitions; ++i) {
    kernel.launch();
    CUDA_OK(cudaEventRecord(event, kernel.stream()));
    CUDA_OK(cudaStreamWaitEvent(behind.stream(), event, 0));
    behind.round();
    beside.round();
    beside.wait();
    kernel.release();
    behind.wait();
  }
  return finish(behind, beside.checksum() % 65521 + kernel.checksum(), start);
}
