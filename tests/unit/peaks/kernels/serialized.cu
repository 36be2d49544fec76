// SPDX-License-Identifier: Apache-2.0
// Reads an accumulator of wgmma after a wait for all but GPUPROF_BATCHES_IN_FLIGHT batches. With 1
// the batch just issued may still be writing it: ptxas serializes all multiplications, and only a
// remark of its says so. With 0 all is well.
#include "guest/peaks/kernels/span.cuh"

using gpuprof::guest::peaks::kernel_arguments;

extern "C" __global__ void __launch_bounds__(128) wgmma_fp16(kernel_arguments a) {
  auto const descriptor = a.bytes;
  float d[4] = {};
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      asm volatile(
          "{ .reg .pred p; setp.eq.u32 p, 0, 0; "
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, p, 1, 1, 0, "
          "0; }"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "l"(descriptor + 2 * k));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GPUPROF_BATCHES_IN_FLIGHT) : "memory");
    d[0] += 1;
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  static_cast<float*>(a.output)[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
