// SPDX-License-Identifier: Apache-2.0
// What a kernel record costs in a capture file: ns and bytes to write, ns to read.
#include "benchmarks/capture_launch_loop.hpp"
#include "capture/reader.hpp"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace gpuprof;
using namespace gpuprof::capture;
using namespace gpuprof::capture::benchmarks;

std::string scratch(char const* name) {
  return (std::filesystem::temp_directory_path() /
          ("gpuprof_benchmark_" + std::to_string(getpid()) + name))
      .string();
}

constexpr std::size_t many = 10'000'000;

/// Made once, removed at exit.
std::string const& ten_million_kernels() {
  struct file {
    std::string path = scratch("_read");
    file() { write_launch_loop(path, many, 5); }
    ~file() { std::filesystem::remove(path); }
  };
  static file const made;
  return made.path;
}

void encode(benchmark::State& state) {
  std::vector<kernel_record> kernels(std::size_t{1} << 20);
  launch_loop{static_cast<unsigned>(state.range(0))}.next(kernels);
  auto const path = scratch("_write");
  double bytes = 0;
  for (auto _ : state) {
    auto out = writer::create(path, create_mode::overwrite);
    for (auto const& kernel : kernels) (*out)->add(kernel);
    benchmark::DoNotOptimize((*out)->close());
    bytes = static_cast<double>((*out)->bytes_written());
  }
  std::filesystem::remove(path);
  auto const count = static_cast<double>(kernels.size());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kernels.size()));
  state.counters["bytes_per_kernel"] = bytes / count;
  state.counters["time_per_kernel"] = benchmark::Counter(
      count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(encode)->ArgName("shapes")->Arg(1)->Arg(5)->Arg(300)->Unit(benchmark::kMillisecond);

// One kernel a flush: what a nearly idle program pays for its 500 ms steps.
void flush_one_kernel(benchmark::State& state) {
  auto const path = scratch("_flush");
  auto out = writer::create(path, create_mode::overwrite);
  std::vector<kernel_record> kernels(4096);
  launch_loop{}.next(kernels);
  auto const before = (*out)->bytes_written();
  std::size_t i = 0;
  for (auto _ : state) {
    (*out)->add(kernels[i++ % kernels.size()]);
    benchmark::DoNotOptimize((*out)->flush());
  }
  state.counters["bytes_per_flush"] = static_cast<double>((*out)->bytes_written() - before) /
                                      static_cast<double>(state.iterations());
  std::filesystem::remove(path);
}
BENCHMARK(flush_one_kernel);

void read_10_million(benchmark::State& state, column_set<kernel_record> wanted) {
  auto const& path = ten_million_kernels();
  for (auto _ : state) {
    auto in = reader::open(path);
    std::vector<std::int64_t> total(64);
    in->for_each<kernel_record>(
        [&](std::span<kernel_record const> kernels) {
          for (auto const& k : kernels) total[raw(k.shape) & 63] += k.duration.value;
        },
        wanted);
    benchmark::DoNotOptimize(total.data());
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK_CAPTURE(read_10_million, all_columns, column_set<kernel_record>{})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_10_million, shape_duration,
                  only(&kernel_record::shape, &kernel_record::duration))
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
