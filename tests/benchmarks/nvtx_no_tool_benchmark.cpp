// SPDX-License-Identifier: Apache-2.0
// What a marker costs when no NVTX tool is there: a program of its own, since NVTX looks only once.
#include <gpuprof/gpuprof.hpp>

#include <benchmark/benchmark.h>

#include <cstdlib>

namespace {

__attribute__((noinline)) void empty(double x) {
  benchmark::DoNotOptimize(x);
}
__attribute__((noinline)) void marked(double x) {
  gpuprof::scoped_range const here("forward pass", gpuprof::work{x, x});
  benchmark::DoNotOptimize(x);
}

void empty_function(benchmark::State& state) {
  for (auto _ : state) empty(1);
}
void scoped_range(benchmark::State& state) {
  for (auto _ : state) marked(1);
}

BENCHMARK(empty_function);
BENCHMARK(scoped_range);

}  // namespace

int main(int argc, char** argv) {
  unsetenv("NVTX_INJECTION64_PATH");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
