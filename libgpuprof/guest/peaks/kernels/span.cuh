// SPDX-License-Identifier: Apache-2.0
// Times the measured loop of a block from inside the kernel.
//
// Launch time, ramps and host jitter are excluded: the span lies between two barriers of the block.
// The SM's cycle counter gives the rate per clock, the GPU's nanosecond timer gives the rate per
// second, and both together give the real clock of the SM.
#pragma once

#include "guest/peaks/kernels/kernel_arguments.hpp"

namespace gpuprof::guest::peaks {

__device__ __forceinline__ std::uint64_t nanosecond_timer() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__device__ __forceinline__ std::uint64_t cycle_counter() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

__device__ __forceinline__ std::uint32_t sm_number() {
  std::uint32_t n;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(n));
  return n;
}

/// All threads of the block call begin() before the loop and end() after it.
class span_of_block {
 public:
  __device__ __forceinline__ void begin() {
    start_time_ = nanosecond_timer();  // takes a microsecond: no thread may start to work before
    __syncthreads();
    start_clock_ = cycle_counter();
  }

  /// `fold`: 32 bits computed from this thread's results. The sum is weighted by thread number,
  /// because a xor of equal values would be zero.
  __device__ __forceinline__ void end(kernel_arguments const& a, std::uint32_t fold) {
    __shared__ std::uint32_t folded;
    __syncthreads();
    auto const end_clock = cycle_counter();
    auto const end_time = nanosecond_timer();
    if (threadIdx.x == 0) folded = 0;
    __syncthreads();
    atomicAdd(&folded, fold * (2 * threadIdx.x + 1));
    __syncthreads();
    if (threadIdx.x == 0) {
      a.spans[blockIdx.x] = {start_time_, end_time, start_clock_, end_clock, sm_number(), folded};
    }
  }

 private:
  std::uint64_t start_time_, start_clock_;
};

}  // namespace gpuprof::guest::peaks
