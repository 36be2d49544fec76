// SPDX-License-Identifier: Apache-2.0
// Kernels whose accesses fetch more than they use, or wait in line for a bank; and a copy that does
// neither.
#include "planted.hpp"

namespace planted {
namespace {

constexpr unsigned threads = 256, blocks_of_sm = 8;

struct particle {  // one sector of 32 bytes
  float mass, x, y, z, vx, vy, vz, charge;
};

template <class Element>
__device__ float mass_of(Element const& element) {
  if constexpr (sizeof(Element) == sizeof(particle))
    return element.mass;
  else
    return element;
}

/// Sums one member. Of an array of structures it fetches eight times what it uses, of an array of
/// that member what it uses.
template <class Element>
__global__ __launch_bounds__(threads) void sum_masses(Element const* elements, unsigned count,
                                                      float* sums) {
  unsigned const thread = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  float sum = 0;
#pragma unroll 8
  for (unsigned i = thread; i < count; i += all) sum += mass_of(elements[i]);
  sums[thread] = sum;
}

template <class Element>
int sum_in_loop(options const& asked) {
  constexpr unsigned count = 1 << 25;
  good_work const work(500);
  auto const stream = new_stream(cudaStreamNonBlocking);
  auto const blocks = multiprocessors() * blocks_of_sm;
  auto* const elements = device_array<Element>(count);
  auto* const sums = device_array<float>(blocks * threads);
  loop(asked, stream, [&](unsigned) {
    work.launch(stream);
    sum_masses<<<blocks, threads, 0, stream>>>(elements, count, sums);
  });
  CUDA_OK(cudaGetLastError());
  return 0;
}

constexpr unsigned loads_in_round = 16, window = 1024;

/// Lanes of a warp read words that are `Stride` apart: with 4, four of them are in each bank.
/// Without conflicts its arithmetic holds it, as in most kernels: a shift, an exclusive or and a
/// maximum for each load, of which a multiprocessor issues two a cycle.
template <unsigned Stride>
__global__ __launch_bounds__(threads) void read_shared(float* sums, unsigned rounds) {
  __shared__ unsigned tile[window + loads_in_round * 32];
  for (unsigned i = threadIdx.x; i < window + loads_in_round * 32; i += threads) tile[i] = i;
  __syncthreads();
  unsigned at = threadIdx.x * Stride % window;
  unsigned greatest[4] = {};
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned k = 0; k < loads_in_round; ++k) {
      unsigned const value = tile[at + k * 32];
      greatest[k % 4] = max(greatest[k % 4], value ^ value >> 7);
    }
    at = (at + 33) % window;
  }
  sums[blockIdx.x * threads + threadIdx.x] =
      static_cast<float>(greatest[0] + greatest[1] + greatest[2] + greatest[3]);
}

__global__ __launch_bounds__(threads) void copy_float4(float4 const* from, float4* to) {
  constexpr unsigned of_thread = 4;
  auto const first = static_cast<std::size_t>(blockIdx.x) * threads * of_thread + threadIdx.x;
  float4 values[of_thread];
#pragma unroll
  for (unsigned i = 0; i < of_thread; ++i) values[i] = __ldcs(from + first + i * threads);
#pragma unroll
  for (unsigned i = 0; i < of_thread; ++i) __stcs(to + first + i * threads, values[i]);
}

}  // namespace

/// 1 GiB of particles of which only the mass is needed. The mended one has the masses apart.
int strided_access(options const& asked) {
  return asked.mended ? sum_in_loop<float>(asked) : sum_in_loop<particle>(asked);
}

/// Four-way conflicts. The mended one reads neighbors.
int bank_conflicts(options const& asked) {
  constexpr double cycles_of_round = blocks_of_sm * threads / 32.0 * loads_in_round;
  good_work const work(700);
  auto const stream = new_stream(cudaStreamNonBlocking);
  auto const blocks = multiprocessors() * blocks_of_sm;
  auto const rounds = static_cast<unsigned>(cycles_of_us(100) / cycles_of_round);
  auto* const sums = device_array<float>(blocks * threads);
  auto* const kernel = asked.mended ? read_shared<1> : read_shared<4>;
  loop(asked, stream, [&](unsigned) {
    work.launch(stream);
    kernel<<<blocks, threads, 0, stream>>>(sums, rounds);
  });
  CUDA_OK(cudaGetLastError());
  return 0;
}

int copy_at_the_roof(options const& asked) {
  constexpr std::size_t count = 1 << 26;  // of 16 bytes: 1 GiB
  auto const stream = new_stream(cudaStreamNonBlocking);
  auto *const from = device_array<float4>(count), *const to = device_array<float4>(count);
  loop(asked, stream,
       [&](unsigned) { copy_float4<<<count / (4 * threads), threads, 0, stream>>>(from, to); });
  CUDA_OK(cudaGetLastError());
  return 0;
}

}  // namespace planted
