// SPDX-License-Identifier: Apache-2.0
#include "planted.hpp"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace planted {
namespace {

using steady_clock = std::chrono::steady_clock;

void run_steps(unsigned first, unsigned count, std::function<void(unsigned)> const& step) {
  for (unsigned i = first; i < first + count; ++i) {
    nvtxRangePushA("step");
    step(i);
    nvtxRangePop();
  }
}

}  // namespace

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

void loop(options const& asked, std::function<void(unsigned)> const& step,
          std::function<void()> const& wait) {
  constexpr unsigned together = 10, warm_up = 3;
  run_steps(0, warm_up, step);
  wait();
  std::vector<double> times;
  unsigned steps = 0;
  auto const begin = steady_clock::now();
  while (asked.seconds > 0 ? seconds_since(begin) < asked.seconds : steps < asked.steps) {
    auto const start = steady_clock::now();
    auto const count = asked.seconds > 0 ? together : std::min(together, asked.steps - steps);
    run_steps(warm_up + steps, count, step);
    wait();
    times.push_back(seconds_since(start) / count);
    steps += count;
  }
  auto const seconds = seconds_since(begin);
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  std::printf("steps %u\nseconds %.6f\nstep_ms %.6f\n", steps, seconds,
              1e3 * times[times.size() / 2]);
  std::fflush(stdout);
}

void loop(options const& asked, cudaStream_t stream, std::function<void(unsigned)> const& step) {
  loop(asked, step, [stream] { CUDA_OK(cudaStreamSynchronize(stream)); });
}

void spin_us(double microseconds) {
  auto const start = steady_clock::now();
  while (seconds_since(start) * 1e6 < microseconds) {
  }
}

unsigned multiprocessors() {
  int count = 0;
  CUDA_OK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return static_cast<unsigned>(count);
}

double cycles_of_us(double microseconds) {
  int khz = 0;
  CUDA_OK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  return microseconds * 1e-3 * khz;
}

cudaStream_t new_stream(unsigned flags) {
  cudaStream_t stream{};
  CUDA_OK(cudaStreamCreateWithFlags(&stream, flags));
  return stream;
}

}  // namespace planted
