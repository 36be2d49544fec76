// SPDX-License-Identifier: Apache-2.0
#include "made_capture.hpp"

#include <string>

namespace gpuprof {

void write_job_rank(std::string const& path, std::uint64_t steps, unsigned rank) {
  constexpr std::uint64_t microsecond = 1000, step_ns = 1000 * microsecond, kernels = 19;
  constexpr unsigned ranks = 8, slow = 5, ranks_of_host = 4;
  auto const on_second = rank >= ranks_of_host;
  auto const ahead = on_second ? 5000 * microsecond : 0;
  made_capture out(path);
  out.describe(std::to_string(5000 + rank), static_cast<int>(rank), ranks,
               on_second ? "node2" : "node1");
  auto const work = out.shape("_Z4workPf"), sum = out.shape("_Z31ncclDevKernel_AllReduce_Sum_f32v");
  out.window(ahead, ahead + steps * step_ns);
  auto const kernel_ns = (rank == slow ? 30 : 20) * microsecond;
  for (std::uint64_t i = 0; i < steps; ++i) {
    auto const begin = ahead + i * step_ns;
    auto const step = out.begin("step", begin);
    auto const forward = out.begin("forward", begin + microsecond, step);
    auto const first = begin + (10 + rank) * microsecond;
    auto const add = [&](shape_id shape, std::uint64_t start, std::uint64_t length) {
      auto kernel = out.kernel(shape, start, static_cast<std::int64_t>(length));
      kernel.launched = at(begin + 2 * microsecond);
      kernel.range = forward;
      out.add(kernel);
    };
    for (std::uint64_t k = 0; k < kernels; ++k) add(work, first + k * kernel_ns, kernel_ns);
    auto const start = first + kernels * kernel_ns;
    auto const end = begin + 635 * microsecond + (i * 7 + rank * 3) % 5 * 200;
    add(sum, start, end - start);
    out.end(forward, begin + microsecond + (100 + 10 * rank) * microsecond);
    out.end(step, begin + 900 * microsecond);
  }
}

}  // namespace gpuprof
