// SPDX-License-Identifier: Apache-2.0
// Faults for which the GPU waits: results that are read in the loop, memory that is allocated in
// it, copies from memory that is not pinned.
#include "planted.hpp"

#include <cstring>
#include <vector>

namespace planted {

/// A loss that is looked at five times a step. The mended one thinks as long, of nothing.
int sync_in_loop(options const& asked) {
  constexpr int kernels = 20, between_reads = 4;
  good_work const work(50);
  auto const stream = new_stream(cudaStreamNonBlocking);
  auto* const loss = device_array<float>(1);
  float seen = 0;
  loop(asked, stream, [&](unsigned) {
    for (int i = 1; i <= kernels; ++i) {
      work.launch(stream);
      if (i % between_reads != 0) continue;
      if (!asked.mended) {
        CUDA_OK(cudaMemcpyAsync(&seen, loss, sizeof seen, cudaMemcpyDeviceToHost, stream));
        CUDA_OK(cudaStreamSynchronize(stream));
      }
      spin_us(25);
    }
  });
  return seen == 0 ? 0 : 1;
}

/// A buffer for each step. The mended one keeps it.
int alloc_in_loop(options const& asked) {
  constexpr std::size_t bytes = 64 << 20;
  good_work const work(250);
  auto const stream = new_stream(cudaStreamNonBlocking);
  void* buffer = nullptr;
  if (asked.mended) CUDA_OK(cudaMalloc(&buffer, bytes));
  loop(asked, stream, [&](unsigned) {
    if (!asked.mended) CUDA_OK(cudaMalloc(&buffer, bytes));
    CUDA_OK(cudaMemsetAsync(buffer, 0, bytes, stream));
    for (int i = 0; i < 4; ++i) work.launch(stream);
    if (!asked.mended) CUDA_OK(cudaFree(buffer));
  });
  return 0;
}

/// The input of each step comes from malloc. The mended one has pinned it.
int pageable_copies(options const& asked) {
  constexpr std::size_t bytes = 8 << 20;
  good_work const work(250);
  auto const stream = new_stream(cudaStreamNonBlocking);
  auto* const input = device_array<char>(bytes);
  std::vector<char> pageable(bytes, 1);
  char* pinned = nullptr;
  CUDA_OK(cudaMallocHost(&pinned, bytes));
  std::memset(pinned, 1, bytes);
  char const* const source = asked.mended ? pinned : pageable.data();
  loop(asked, stream, [&](unsigned) {
    CUDA_OK(cudaMemcpyAsync(input, source, bytes, cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < 4; ++i) work.launch(stream);
  });
  return 0;
}

}  // namespace planted
