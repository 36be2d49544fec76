// SPDX-License-Identifier: Apache-2.0
// How long the drain thread is away from CUPTI's buffers: a program that replays a graph of 146
// kernels, 400,000 of them a second, with windows of samples as `--metrics auto` makes them.
#include "benchmarks/record_surroundings.hpp"
#include "guest/collect/activity_decoder.hpp"
#include "guest/recording/trace_assembler.hpp"
#include "support/fake_cupti.hpp"
#include "support/record_walk.hpp"
#include "support/records.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

constexpr std::uint64_t first_start = 1'700'000'000'000'000'000;
constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t flush_every = second / 2;
constexpr std::uint64_t window_every = second / 5, window_length = second / 20;
constexpr std::uint64_t interval = 20'000;
constexpr std::size_t buffer_bytes = 1 << 20;
constexpr std::size_t kernels_of_graph = 146;
char const* const sampled_names[] = {"sm__cycles_active.avg",
                                     "sm__cycles_elapsed.avg.per_second",
                                     "sm__warps_active.avg.pct_of_peak_sustained_active",
                                     "dram__bytes_read.sum",
                                     "dram__bytes_write.sum",
                                     "sm__pipe_tensor_cycles_active.avg",
                                     "lts__t_bytes.sum",
                                     "sm__inst_executed.sum",
                                     "pcie__read_bytes.sum",
                                     "nvlrx__bytes.sum"};

/// The same kernels in the same order for ever, which is what tells least of each of them.
class replayed_graph {
 public:
  replayed_graph() {
    for (std::size_t i = 0; i < kernels_of_graph; ++i) {
      names_.push_back("_Z4nodeILi" + std::to_string(i) + "EEvPfS0_i");
      lengths_.push_back(1200 + random_() % 1800);
      loads_.push_back(1 + static_cast<double>(random_() % 1000));
    }
  }

  struct run {
    std::size_t node = 0;
    std::uint32_t replay = 0;
    std::uint64_t start = 0, end = 0;
    bool is_first = false;
  };
  run next() {
    run made{node_, replay_, now_, now_ + lengths_[node_] + random_() % 64, node_ == 0};
    now_ = made.end + 350;
    if (++node_ == kernels_of_graph) node_ = 0, ++replay_;
    return made;
  }
  char const* name(std::size_t node) const { return names_[node].c_str(); }
  double load(std::size_t node, std::size_t metric) const {
    return loads_[(node * (metric + 1)) % kernels_of_graph];
  }

 private:
  std::mt19937_64 random_{7};
  std::vector<std::string> names_;
  std::vector<std::uint64_t> lengths_;
  std::vector<double> loads_;
  std::size_t node_ = 0;
  std::uint32_t replay_ = 1;
  std::uint64_t now_ = first_start;
};

/// What sampling in time makes of it.
class sampler {
 public:
  void see(replayed_graph const& graph, replayed_graph::run const& run) {
    auto const since = (run.start - first_start) % window_every;
    if (since >= window_length) return end_window();
    if (windows_.empty() || run.start - windows_.back().start.value > window_length) {
      sampling_window_record window;
      window.start = {run.start - since};
      window.end = {run.start - since + window_length};
      window.interval = {static_cast<std::int64_t>(interval)};
      windows_.push_back(window);
      values_.assign(std::size(sampled_names), std::vector<double>(window_length / interval));
    }
    auto const from = windows_.back().start.value;
    for (auto at = run.start; at < run.end;) {
      auto const place = (at - from) / interval;
      if (place >= values_[0].size()) return;
      auto const until = std::min(run.end, from + (place + 1) * interval);
      auto const share = static_cast<double>(until - at) / static_cast<double>(run.end - run.start);
      for (std::size_t m = 0; m < values_.size(); ++m)
        values_[m][place] += share * graph.load(run.node, m) * noise();
      at = until;
    }
  }
  void end_window() {
    if (values_.empty()) return;
    auto const from = windows_.back().start.value;
    for (std::size_t place = 0; place < values_[0].size(); ++place)
      for (std::size_t m = 0; m < values_.size(); ++m)
        samples_.push_back({static_cast<metric_id>(m + 1),
                            {from + place * interval},
                            {static_cast<std::int64_t>(interval)},
                            values_[m][place]});
    values_.clear();
  }
  sampling_results take() {
    sampling_results made;
    made.windows = std::exchange(windows_, {});
    made.samples = std::exchange(samples_, {});
    return made;
  }
  bool is_in_window() const { return !values_.empty(); }

 private:
  double noise() { return std::uniform_real_distribution<>(0.97, 1.03)(random_); }
  std::mt19937_64 random_{11};
  std::vector<sampling_window_record> windows_;
  std::vector<sample_record> samples_;
  std::vector<std::vector<double>> values_;  // by metric, of the window that is open
};

double cpu_ms() {
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return static_cast<double>(cpu.tv_sec) * 1e3 + static_cast<double>(cpu.tv_nsec) * 1e-6;
}

/// CPU time of one thing that the drain thread does, and the longest it ever took.
struct step_times {
  double sum = 0, longest = 0;
  template <class F>
  void time(F f) {
    auto const from = cpu_ms();
    f();
    auto const took = cpu_ms() - from;
    sum += took;
    longest = std::max(longest, took);
  }
};

void replay(benchmark::State& state, bool with_samples) {
  fake_cupti cupti;
  auto const api = table_with_walker(cupti);
  auto const path = on_tmpfs();
  step_times decoding, flushing;
  std::uint64_t kernels = 0;
  for (auto _ : state) {
    auto file = std::move(*capture::writer::create(path, capture::create_mode::overwrite));
    name_registry names;
    std::string text;
    auto const text_of = [&](name_id id) { return std::string_view(text = names.text(id)); };
    live_totals totals(text_of);
    receivers to(file.get(), totals);
    trace_assembler assembler(to.all, names, nullptr);
    kernel_names pointers(names);
    activity_decoder decoder(api, 130001, names, pointers, assembler.launches(), assembler);
    assembler.open_window({1, {first_start}, {}, {}});
    if (with_samples)
      for (std::uint32_t m = 0; m < std::size(sampled_names); ++m)
        to.all.add(metric_record{static_cast<metric_id>(m + 1), names.intern(sampled_names[m]),
                                 device_id{1}, 0, false, true});
    replayed_graph graph;
    sampler samples;
    auto kernel = kernel_record_of("", 0);
    record_buffer buffer(buffer_bytes);
    auto next_flush = first_start + flush_every;
    auto const end = first_start + static_cast<std::uint64_t>(state.range(0)) * second;
    for (auto run = graph.next(); run.start < end; run = graph.next()) {
      if (run.is_first)
        assembler.launch({.thread = thread_index{1},
                          .correlation = static_cast<correlation_id>(run.replay),
                          .time = {run.start - 4000},
                          .flags = launch_of_graph});
      if (with_samples) samples.see(graph, run);
      kernel.name = graph.name(run.node);
      kernel.correlationId = run.replay;
      kernel.start = run.start, kernel.end = run.end;
      kernel.graphNodeId = run.node + 1;
      buffer.add(kernel);
      ++kernels;
      auto const is_flush = run.start >= next_flush && !samples.is_in_window();
      if (buffer.used().size() + sizeof kernel > buffer_bytes || is_flush) {
        decoding.time([&] {
          decoder.decode(buffer.used());
          assembler.hand_over();
        });
        buffer.cut(buffer.used().size());
      }
      if (!is_flush) continue;
      next_flush += flush_every;
      auto const results = samples.take();
      flushing.time([&] {
        auto of_device = results;
        for (auto& window : of_device.windows) window.device = device_id{1}, window.samples = 2500;
        to.all.add(of_device);
        (void)file->flush();
      });
    }
    if (!file->close()) state.SkipWithError("the file could not be written");
  }
  std::filesystem::remove(path);
  state.SetItemsProcessed(static_cast<std::int64_t>(kernels));
  auto const per_kernel = [&](step_times const& step) {
    return step.sum * 1e6 / static_cast<double>(kernels);
  };
  state.counters["ns_decode"] = per_kernel(decoding);
  state.counters["ns_flush"] = per_kernel(flushing);
  state.counters["longest_decode_ms"] = decoding.longest;
  state.counters["longest_flush_ms"] = flushing.longest;
}
BENCHMARK_CAPTURE(replay, traced, false)->ArgName("s")->Arg(60)->Iterations(1);
BENCHMARK_CAPTURE(replay, sampled, true)->ArgName("s")->Arg(60)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
