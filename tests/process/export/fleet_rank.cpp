// SPDX-License-Identifier: Apache-2.0
#include "made_capture.hpp"

#include <random>

namespace gpuprof {

void write_fleet_rank(std::string const& path, std::uint64_t day, unsigned rank,
                      std::uint64_t steps) {
  constexpr std::uint64_t us = 1000, step_ns = 1000 * us;
  auto const begin = day * 86'400'000'000'000;
  made_capture out(path);
  out.describe(std::to_string(5000 + rank), static_cast<int>(rank), 8,
               rank < 4 ? "node1" : "node2");
  out.dram_roof(4e12);
  auto const gemm = out.shape("_Z4gemmPf"), last = out.shape("_Z9gemm_lastPf"),
             sum = out.shape("_Z31ncclDevKernel_AllReduce_Sum_f32v");
  out.window(begin, begin + steps * step_ns);
  auto const length = (rank == 2 && day == 1 ? 120 : rank % 60 == 5 ? 100 : 80) * us;
  std::mt19937_64 random(rank);
  for (std::uint64_t i = 0; i < steps; ++i) {
    auto const now = begin + i * step_ns;
    auto const step = out.begin("step", now + us);
    auto const forward = out.begin("forward", now + 2 * us, step);
    auto next_launch = now + 3 * us;
    auto const add = [&](shape_id shape, std::uint64_t start, std::uint64_t end, range_id range) {
      if (steps > 10) start += random() % 700, end += random() % 700;
      auto kernel = out.kernel(shape, now + start, static_cast<std::int64_t>(end - start));
      kernel.range = range;
      if (shape == sum) kernel.stream = stream_id{20};
      kernel.launched = at(next_launch);
      next_launch += us;
      out.add(kernel);
      out.add(api_record{.start = kernel.launched,
                         .duration = {500},
                         .name = out.name("cudaLaunchKernel_v7000"),
                         .os_thread = 5000 + rank,
                         .correlation = kernel.correlation});
      return kernel;
    };
    for (std::uint64_t k = 0; k < 4; ++k) {
      auto const done = add(gemm, 10 * us + k * length, 10 * us + (k + 1) * length, forward);
      if (k == 0) out.moved(done, 120e6, 40e6);
    }
    out.end(forward, now + 12 * us + 4 * length);
    auto const backward = out.begin("backward", now + 13 * us + 4 * length, step);
    next_launch = now + 14 * us + 4 * length;
    add(last, 4 * length + 30 * us, 4 * length + 230 * us, backward);
    add(sum, 4 * length + 130 * us, 730 * us, backward);
    out.end(backward, now + 740 * us);
    out.end(step, now + 900 * us);
  }
}

}  // namespace gpuprof
