// SPDX-License-Identifier: Apache-2.0
// gpuprof_analyze_captures FOLDER: writes a capture for each case of analyze_test.py.
#include "process/export/made_capture.hpp"

using namespace gpuprof;

namespace {

/// Ten steps: a kernel, a wait, half of the step without work. `rank` -1: of no job.
void steps(std::string const& path, int rank, std::uint64_t kernel_ns) {
  made_capture out(path);
  out.describe(std::to_string(4242 + rank), rank, rank < 0 ? 0 : 2);
  constexpr std::uint64_t step = 1'000'000, count = 10;
  out.window(0, (count + 1) * step);
  auto const shape = out.shape("_Z4gemmIfEvPKT_S2_PS0_i");
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const begin = (i + 1) * step / 1;
    auto const range = out.begin("step", begin - step / 2);
    auto kernel = out.kernel(shape, begin - step / 4, kernel_ns);
    kernel.range = range;
    out.add(kernel);
    out.end(range, begin + step / 4);
  }
}

void only_ranges(std::string const& path) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, 1'000'000);
  out.end(out.begin("step", 1000), 4000);
}

void empty(std::string const& path) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, 1'000'000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto const in = [&](char const* name) { return std::string(argv[1]) + "/" + name; };
  steps(in("steps.gpuprof"), -1, 400'000);
  steps(in("job.rank0.gpuprof"), 0, 400'000);
  steps(in("job.rank1.gpuprof"), 1, 300'000);
  only_ranges(in("only_ranges.gpuprof"));
  empty(in("empty.gpuprof"));
}
