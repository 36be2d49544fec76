// SPDX-License-Identifier: Apache-2.0
// Kernels whose launch leaves multiprocessors without work: one block more than fit at once, more
// shared memory than a second block leaves room for.
#include "planted.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace planted {
namespace {

constexpr unsigned chasing_threads = 256, lanes = 32;

/// Each warp reads a row of 128 bytes that says which is next: nothing to do but wait for it.
__global__ __launch_bounds__(chasing_threads) void chase_rows(unsigned const* rows, unsigned count,
                                                              unsigned hops, unsigned* last) {
  extern __shared__ unsigned scratch[];
  unsigned const thread = blockIdx.x * chasing_threads + threadIdx.x;
  unsigned row = thread / lanes * 97 % count;
  for (unsigned hop = 0; hop < hops; ++hop) row = rows[row * lanes + threadIdx.x % lanes];
  scratch[threadIdx.x] = row;
  last[thread] = scratch[threadIdx.x ^ 1];
}

/// Every row leads to another, through all of them.
std::vector<unsigned> one_circle(unsigned count) {
  std::vector<unsigned> order(count), rows(static_cast<std::size_t>(count) * lanes);
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(1);
  for (unsigned i = count - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  for (unsigned i = 0; i < count; ++i)
    std::fill_n(rows.begin() + static_cast<std::ptrdiff_t>(order[i]) * lanes, lanes,
                order[(i + 1) % count]);
  return rows;
}

}  // namespace

/// Each block takes a multiprocessor, and there is one block more than there are. The mended one
/// has the same work in as many as there are.
int one_block_too_many(options const& asked) {
  auto const fit = multiprocessors();
  good_work const work(700);
  auto const stream = new_stream(cudaStreamNonBlocking);
  auto* const values = device_array<float>((fit + 1) * whole_sm_threads);
  auto const iterations = whole_sm_iterations(150);
  loop(asked, stream, [&](unsigned) {
    work.launch(stream);
    if (asked.mended)
      launch_whole_sm_blocks(fit, iterations + iterations / fit, values, stream);
    else
      launch_whole_sm_blocks(fit + 1, iterations, values, stream);
  });
  return 0;
}

/// Blocks with so much shared memory that only one is on a multiprocessor, in a kernel that waits
/// for memory. The mended one asks for less, so that two are.
int low_occupancy(options const& asked) {
  constexpr unsigned count = 1 << 18;  // rows: 32 MiB, in the L2 cache
  constexpr unsigned hops = 600;
  unsigned const shared = (asked.mended ? 100 : 130) << 10;
  good_work const work(500);
  auto const stream = new_stream(cudaStreamNonBlocking);
  auto const blocks = 2 * multiprocessors();
  auto const host = one_circle(count);
  auto* const rows = device_array<unsigned>(host.size());
  auto* const last = device_array<unsigned>(blocks * chasing_threads);
  CUDA_OK(cudaMemcpy(rows, host.data(), host.size() * sizeof host[0], cudaMemcpyHostToDevice));
  CUDA_OK(cudaFuncSetAttribute(chase_rows, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)));
  loop(asked, stream, [&](unsigned) {
    work.launch(stream);
    chase_rows<<<blocks, chasing_threads, shared, stream>>>(rows, count, hops, last);
  });
  CUDA_OK(cudaGetLastError());
  return 0;
}

}  // namespace planted
