// SPDX-License-Identifier: Apache-2.0
// What a kernel record costs the drain thread: CUPTI's buffer -> decoder -> assembler with its
// launch
// -> live totals and capture file.
#include "benchmarks/record_surroundings.hpp"
#include "guest/collect/activity_decoder.hpp"
#include "guest/recording/trace_assembler.hpp"
#include "support/fake_cupti.hpp"
#include "support/record_walk.hpp"
#include "support/records.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

constexpr std::size_t buffer_bytes = 1 << 20;
constexpr std::uint64_t first_start = 1'700'000'000'000'000'000;
constexpr unsigned kernels_in_a_range = 100;

/// A launch loop over `shapes` kernels as CUPTI 13.0 hands it over, and the launches that belong to
/// it.
struct launch_loop {
  explicit launch_loop(unsigned shapes, std::size_t buffer_count) {
    for (unsigned shape = 0; shape < shapes; ++shape)
      kernel_names.push_back("_Z11some_kernelILi" + std::to_string(shape) + "EEvPfS0_i");
    std::mt19937_64 random{42};
    auto launched = first_start;
    std::uint32_t correlation = 0;
    auto kernel = kernel_record_of("", 0);
    kernel.graphId = 0, kernel.graphNodeId = 0;
    for (std::size_t b = 0; b < buffer_count; ++b) {
      auto& buffer = *buffers.emplace_back(std::make_unique<record_buffer>(buffer_bytes));
      do {
        ++correlation;
        launched += 2800 + random() % 240;
        kernel.name = kernel_names[correlation % shapes].c_str();
        kernel.correlationId = correlation;
        kernel.start = std::max(kernel.end + 700, launched + 3800 + random() % 800);
        kernel.end = kernel.start + 1000 + random() % 12 * 32;
      } while (buffer.add(kernel) && note(correlation, launched));
      --correlation;  // the last did not fit
      ends.push_back(launches.size());
    }
  }
  bool note(std::uint32_t correlation, std::uint64_t time) {
    launches.push_back({thread_index{1},
                        static_cast<correlation_id>(correlation),
                        static_cast<range_id>(1 + correlation / kernels_in_a_range),
                        {time},
                        0});
    return true;
  }

  std::vector<std::string> kernel_names;
  std::vector<std::unique_ptr<record_buffer>> buffers;
  std::vector<launch_note> launches;
  std::vector<std::size_t> ends;  // launches up to the end of each buffer
};

struct nothing final : activity_sink {
  std::uint64_t kernels = 0;
  void shape(kernel_shape const&) override {}
  void kernel(kernel_record const&) override { ++kernels; }
  void graph(graph_record const&) override {}
  void copy(copy_record const&) override {}
  void set(memset_record const&) override {}
  void api(api_record const&) override {}
  void sync(sync_record const&) override {}
  void memory(memory_record const&) override {}
  void unified_memory(unified_memory_record const&) override {}
};

void count_records(benchmark::State& state, std::size_t records) {
  auto const count = static_cast<double>(records);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(records));
  state.counters["time_per_record"] = benchmark::Counter(
      count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void decode_only(benchmark::State& state) {
  fake_cupti cupti;
  auto const api = table_with_walker(cupti);
  launch_loop const loop(static_cast<unsigned>(state.range(0)), 16);
  name_registry names;
  nothing sink;
  kernel_names kernels(names);
  launch_table launches;
  activity_decoder decoder(api, 130001, names, kernels, launches, sink);
  for (auto _ : state) {
    for (auto const& buffer : loop.buffers) decoder.decode(buffer->used());
  }
  benchmark::DoNotOptimize(sink.kernels);
  count_records(state, loop.launches.size());
}
BENCHMARK(decode_only)->ArgName("shapes")->Arg(1)->Arg(300)->Unit(benchmark::kMillisecond);

void whole_way(benchmark::State& state, bool with_file) {
  fake_cupti cupti;
  auto const api = table_with_walker(cupti);
  launch_loop const loop(static_cast<unsigned>(state.range(0)), 64);
  auto const path = on_tmpfs();
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    auto file = with_file
                    ? std::move(*capture::writer::create(path, capture::create_mode::overwrite))
                    : nullptr;
    name_registry names;
    std::string text;
    live_totals totals([&](name_id id) -> std::string_view { return text = names.text(id); });
    receivers to(file.get(), totals);
    trace_assembler assembler(to.all, names, nullptr);
    kernel_names kernels(names);
    activity_decoder decoder(api, 130001, names, kernels, assembler.launches(), assembler);
    assembler.open_window({1, {first_start}, {}, {}});
    std::size_t next = 0;
    for (std::size_t b = 0; b < loop.buffers.size(); ++b) {
      for (; next < loop.ends[b]; ++next) {
        auto const& l = loop.launches[next];
        if (raw(l.correlation) % kernels_in_a_range == 0 || next == 0)
          assembler.begin({.time = l.time, .range = l.range, .thread = l.thread});
        assembler.launch(l);
      }
      assembler.settle_pending();
      decoder.decode(loop.buffers[b]->used());
      assembler.hand_over();
    }
    if (assembler.counts().kernels != loop.launches.size())
      state.SkipWithError("kernels are missing");
    if (assembler.counts().kernels_unattributed != 0) state.SkipWithError("launches are missing");
    if (file != nullptr) {
      if (!file->close()) state.SkipWithError("the file could not be written");
      bytes = file->bytes_written();
    }
  }
  std::filesystem::remove(path);
  count_records(state, loop.launches.size());
  state.counters["bytes_per_kernel"] =
      static_cast<double>(bytes) / static_cast<double>(loop.launches.size());
}
BENCHMARK_CAPTURE(whole_way, totals_alone, false)
    ->ArgName("shapes")
    ->Arg(1)
    ->Arg(300)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(whole_way, totals_and_file, true)
    ->ArgName("shapes")
    ->Arg(1)
    ->Arg(5)
    ->Arg(300)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
