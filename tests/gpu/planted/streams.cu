// SPDX-License-Identifier: Apache-2.0
// Two streams that could run at once, and waits of known length on the CPU and between streams.
#include "planted.hpp"

#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstdio>
#include <thread>

namespace planted {
namespace {

__global__ void count_up(unsigned* counter) {
  ++*counter;
}

/// What `later` gets from here on waits for what `earlier` has.
void order(cudaStream_t earlier, cudaStream_t later, cudaEvent_t event) {
  CUDA_OK(cudaEventRecord(event, earlier));
  CUDA_OK(cudaStreamWaitEvent(later, event, 0));
}

cudaEvent_t new_event() {
  cudaEvent_t event{};
  CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return event;
}

}  // namespace

/// A counter on the legacy default stream keeps the halves of a step apart, each of which needs
/// half of the GPU. The mended one has streams that do not wait for it.
int serialised_streams(options const& asked) {
  auto const flags = asked.mended ? cudaStreamNonBlocking : cudaStreamDefault;
  auto const one = new_stream(flags), other = new_stream(flags);
  auto const one_done = new_event(), other_done = new_event();
  good_work const work(300);
  auto const blocks = multiprocessors() / 2, iterations = whole_sm_iterations(150);
  auto *const values = device_array<float>(blocks * whole_sm_threads), *const others =
                                                                           device_array<float>(
                                                                               blocks *
                                                                               whole_sm_threads);
  auto* const counter = device_array<unsigned>(1);
  loop(asked, one, [&](unsigned) {
    launch_whole_sm_blocks(blocks, iterations, values, one);
    count_up<<<1, 1>>>(counter);
    launch_whole_sm_blocks(blocks, iterations, others, other);
    order(other, one, other_done);
    work.launch(one);
    order(one, other, one_done);
  });
  CUDA_OK(cudaGetLastError());
  return 0;
}

/// Waits of 4 ms, three a step, one of each cause. Prints how long they were in all.
int known_waits(options const& asked) {
  constexpr double wait_us = 4000, kernel_us = 100;
  auto const stream = new_stream(cudaStreamNonBlocking);
  auto const side = new_stream(cudaStreamNonBlocking);
  auto const late = new_event();
  good_work const work(kernel_us);
  unsigned calls = 0;
  // The GPU is idle from the return of the wait on. The driver's thread, which takes 150 us until
  // it calls, adds to `seconds`; this one sets `idle_from` when all that is done.
  struct held_time {
    std::chrono::steady_clock::time_point idle_from;
    double seconds = 0;
  } held;
  auto const sleep = [](void* context) {
    spin_us(wait_us);
    auto* const of = static_cast<held_time*>(context);
    of->seconds += seconds_since(of->idle_from);
  };
  loop(asked, stream, [&](unsigned) {
    ++calls;
    CUDA_OK(cudaStreamSynchronize(stream));  // then the CPU thinks
    spin_us(wait_us);
    work.launch(stream);
    nvtxRangePushA("load data");  // without a call: the stream runs dry
    spin_us(wait_us + kernel_us);
    nvtxRangePop();
    work.launch(stream);
    CUDA_OK(cudaStreamSynchronize(stream));
    held.idle_from = std::chrono::steady_clock::now();
    CUDA_OK(cudaLaunchHostFunc(side, sleep, &held));  // then for an event of another stream
    order(side, stream, late);
    work.launch(stream);
  });
  for (auto const* const cause : {"sync", "cpu"})
    std::printf("idle_%s_ms %.3f\n", cause, calls * wait_us / 1e3);
  std::printf("idle_dependency_ms %.3f\n", 1e3 * held.seconds);
  return 0;
}

}  // namespace planted
