// SPDX-License-Identifier: Apache-2.0
// A program for comparisons: the same in each run, but for one kernel that can be made slower.
#include "planted.hpp"

namespace planted {

int steady(options const& asked) {
  auto const stream = new_stream(cudaStreamNonBlocking);
  good_work const work(200);
  auto const blocks = multiprocessors();
  auto const iterations =
      static_cast<unsigned>(whole_sm_iterations(200) * (1 + asked.slower_percent / 100));
  auto* const values = device_array<float>(blocks * whole_sm_threads);
  constexpr std::size_t bytes = 128 << 20;
  auto *const from = device_array<char>(bytes), *const to = device_array<char>(bytes);
  loop(asked, stream, [&](unsigned) {
    work.launch(stream);
    launch_whole_sm_blocks(blocks, iterations, values, stream);
    CUDA_OK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
  });
  return 0;
}

}  // namespace planted
