// SPDX-License-Identifier: Apache-2.0
// Kernels as they must not be, under the names of two that are right. ptxas does with asm volatile
// what it likes: it drops most of what these seem to measure.
#include "guest/peaks/kernels/span.cuh"

using gpuprof::guest::peaks::kernel_arguments;

/// Four chains with equal operands and equal starts are one.
extern "C" __global__ void mma_fp16(kernel_arguments a) {
  auto const x = a.seed;
  float total = 0;
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
    float d[4][4];
#pragma unroll
    for (int c = 0; c < 4; ++c) d[c][0] = d[c][1] = d[c][2] = d[c][3] = total;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
            : "+f"(d[c][0]), "+f"(d[c][1]), "+f"(d[c][2]), "+f"(d[c][3])
            : "r"(x));
      }
    }
#pragma unroll
    for (int c = 0; c < 4; ++c) total += d[c][0] + d[c][1] + d[c][2] + d[c][3];
  }
  static_cast<float*>(a.output)[threadIdx.x] = total;
}

/// Loads from equal addresses are loaded once, before the loop.
extern "C" __global__ void l1_read(kernel_arguments a) {
  auto const* const input = static_cast<uint4 const*>(a.input) + threadIdx.x;
  std::uint32_t total = 0;
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
#pragma unroll
    for (int l = 0; l < 16; ++l) {
      uint4 v;
      asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                   : "l"(input + l % 4 * 256));
      total += v.x + v.y + v.z + v.w;
    }
    total = total * 3 + 1;
  }
  static_cast<std::uint32_t*>(a.output)[threadIdx.x] = total;
}
