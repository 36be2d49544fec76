// SPDX-License-Identifier: Apache-2.0
// Two streams that could run at once, and waits of known length on the CPU and between streams.
#include "planted.hpp"

#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <cstdio>
#include <vector>

namespace planted {
namespace {

__global__ void count_up(unsigned* counter) {
  ++*counter;
}

constexpr double wait_us = 4000, kernel_us = 100;
constexpr std::size_t steps_besides = 20;  // that warm up, and that end ten begun ones

/// Of a kernel, by the GPU's clock.
struct moments {
  unsigned long long first, last;
};

__device__ unsigned long long gpu_ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

/// Runs on one thread for so long.
__global__ void note_moments(moments* noted, unsigned ns) {
  auto const first = gpu_ns();
  auto last = first;
  while (last - first < ns) last = gpu_ns();
  *noted = {first, last};
}

/// Between kernels of which each step has three.
void print_idle(std::vector<moments> const& seen) {
  constexpr char const* causes[] = {"sync", "cpu", "dependency"};
  double ns[3] = {};
  for (std::size_t i = 1; i < seen.size(); ++i)
    ns[(i - 1) % 3] += static_cast<double>(seen[i].first - seen[i - 1].last);
  for (int i = 0; i < 3; ++i) std::printf("idle_%s_ms %.3f\n", causes[i], ns[i] / 1e6);
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
int serialized_streams(options const& asked) {
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

/// Waits of 4 ms, three a step, one of each cause, between kernels that note by the GPU's own clock
/// when they ran. Prints how long the GPU idled for each cause: longer than 4 ms by what a call
/// takes to return, and the driver to call a host function.
int known_waits(options const& asked) {
  auto const stream = new_stream(cudaStreamNonBlocking);
  auto const side = new_stream(cudaStreamNonBlocking);
  auto const late = new_event();
  auto const max_steps = asked.seconds > 0 ? asked.seconds * 1e6 / (3 * wait_us) : asked.steps;
  auto const max_kernels = 1 + 3 * (static_cast<std::size_t>(max_steps) + steps_besides);
  auto* const noted = device_array<moments>(max_kernels);
  std::size_t launched = 0;
  auto const launch = [&] {
    note_moments<<<1, 1, 0, stream>>>(&noted[launched++], static_cast<unsigned>(1e3 * kernel_us));
    CUDA_OK(cudaGetLastError());
  };
  launch();
  loop(asked, stream, [&](unsigned) {
    CUDA_OK(cudaStreamSynchronize(stream));  // then the CPU thinks
    spin_us(wait_us);
    launch();
    nvtxRangePushA("load data");  // without a call: the stream runs dry
    spin_us(wait_us + kernel_us);
    nvtxRangePop();
    launch();
    CUDA_OK(cudaStreamSynchronize(stream));
    CUDA_OK(cudaLaunchHostFunc(side, [](void*) { spin_us(wait_us); }, nullptr));
    order(side, stream, late);  // for an event of another stream
    launch();
  });
  std::vector<moments> seen(launched);
  CUDA_OK(cudaMemcpy(seen.data(), noted, launched * sizeof(moments), cudaMemcpyDeviceToHost));
  print_idle(seen);
  return 0;
}

}  // namespace planted
