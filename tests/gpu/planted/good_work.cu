// SPDX-License-Identifier: Apache-2.0
// Kernels of multiply-adds whose length is known by their cycles: a multiprocessor issues four
// warp-wide multiply-adds a cycle.
#include "planted.hpp"

namespace planted {
namespace {

constexpr unsigned good_threads = 256, blocks_of_sm = 8, good_chains = 16, whole_sm_chains = 40;
constexpr double issued_in_a_cycle = 4, lanes = 32;

/// So many chains of multiply-adds that none is waited for.
template <unsigned Chains>
__device__ void multiply_add(float* values, unsigned iterations) {
  unsigned const thread = blockIdx.x * blockDim.x + threadIdx.x;
  float chain[Chains];
#pragma unroll
  for (unsigned k = 0; k < Chains; ++k) chain[k] = static_cast<float>(thread + k);
#pragma unroll 8
  for (unsigned i = 0; i < iterations; ++i)
#pragma unroll
    for (unsigned k = 0; k < Chains; ++k) chain[k] = fmaf(chain[k], 0.999f, 0.25f);
  float sum = 0;
#pragma unroll
  for (unsigned k = 0; k < Chains; ++k) sum += chain[k];
  values[thread] = sum;
}

__global__ __launch_bounds__(good_threads, blocks_of_sm) void good_fma(float* values,
                                                                       unsigned iterations) {
  multiply_add<good_chains>(values, iterations);
}

/// Its registers leave no room for a second block.
__global__ __launch_bounds__(whole_sm_threads, 1) void whole_sm_fma(float* values,
                                                                    unsigned iterations) {
  multiply_add<whole_sm_chains>(values, iterations);
}

unsigned iterations_of(double microseconds, unsigned chains, unsigned threads_of_sm) {
  auto const cycles_of_one = threads_of_sm / lanes * chains / issued_in_a_cycle;
  return static_cast<unsigned>(cycles_of_us(microseconds) / cycles_of_one);
}

}  // namespace

good_work::good_work(double microseconds)
    : iterations_(iterations_of(microseconds, good_chains, good_threads * blocks_of_sm)),
      values_(device_array<float>(multiprocessors() * blocks_of_sm * good_threads)) {}

void good_work::launch(cudaStream_t stream) const {
  good_fma<<<multiprocessors() * blocks_of_sm, good_threads, 0, stream>>>(values_, iterations_);
  CUDA_OK(cudaGetLastError());
}

unsigned whole_sm_iterations(double microseconds) {
  return iterations_of(microseconds, whole_sm_chains, whole_sm_threads);
}

void launch_whole_sm_blocks(unsigned blocks, unsigned iterations, float* values,
                            cudaStream_t stream) {
  whole_sm_fma<<<blocks, whole_sm_threads, 0, stream>>>(values, iterations);
  CUDA_OK(cudaGetLastError());
}

}  // namespace planted
