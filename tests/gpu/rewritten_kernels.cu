// SPDX-License-Identifier: Apache-2.0
#include "rewritten_kernels.hpp"

#include <cooperative_groups.h>

namespace {

constexpr int rounds = 200;

/// Needs about as many registers as it has values.
template <int Values, int Block, int BlocksOfSm>
__global__ void __launch_bounds__(Block, BlocksOfSm) waiting_for_all(float* out) {
  float x[Values];
#pragma unroll
  for (int i = 0; i < Values; ++i) x[i] = threadIdx.x + i;
  for (int round = 0; round < rounds; ++round) {
    if (round == rounds / 2) cooperative_groups::this_grid().sync();
#pragma unroll
    for (int i = 0; i < Values; ++i) x[i] = fmaf(x[i], 0.999f, x[(i + 1) % Values]);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < Values; ++i) sum = max(sum, x[i]);
  if (sum == 12345.f) *out = sum;
}

template <int Values, int Block, int BlocksOfSm>
cooperative_kernel cooperative() {
  auto const kernel = waiting_for_all<Values, Block, BlocksOfSm>;
  int blocks = 0, sms = 0;
  cudaFuncAttributes attributes{};
  cudaFuncGetAttributes(&attributes, kernel);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, Block, 0);
  auto const grid = blocks * sms;
  return {attributes.numRegs, Block, grid, 1. * grid * Block * Values * rounds,
          [](float* out, int grid) {
            void* arguments[] = {&out};
            return cudaLaunchCooperativeKernel(
                reinterpret_cast<void const*>(&waiting_for_all<Values, Block, BlocksOfSm>),
                dim3(grid), dim3(Block), arguments, 0, nullptr);
          }};
}

__global__ void fma_kernel(float* out) {
  float x = threadIdx.x, y = 0.999f;
  for (int i = 0; i < 1000; ++i) x = fmaf(x, y, 0.5f);
  if (x == 12345.f) *out = x;
}
__global__ void other_kernel(float* out) {
  if (threadIdx.x == 1000) *out = 1;
}

}  // namespace

void multiply_and_add(float* out) {
  fma_kernel<<<132, 256>>>(out);
}
void something_else(float* out) {
  other_kernel<<<1, 32>>>(out);
}
void something_else_on(cudaStream_t stream, float* out) {
  other_kernel<<<1, 32, 0, stream>>>(out);
}

std::vector<cooperative_kernel> cooperative_kernels() {
  return {cooperative<8, 256, 8>(),   cooperative<20, 1024, 2>(), cooperative<24, 512, 4>(),
          cooperative<48, 1024, 1>(), cooperative<48, 256, 4>(),  cooperative<100, 512, 1>(),
          cooperative<120, 128, 4>(), cooperative<200, 256, 1>()};
}
