// SPDX-License-Identifier: Apache-2.0
// gpu_turns: which states of the range profiler and of PM sampling bear each other on one GPU, how
// long each step takes, and how long it kept another thread from launching. One line a step.
#include "guest/counters/counter_access.hpp"
#include "guest/counters/launches/range_profiler.hpp"
#include "guest/counters/windows/pm_sampling.hpp"
#include "guest/cupti/chip_name.hpp"
#include "guest/cupti/loader.hpp"
#include "guest/metrics/planning/host_profiler.hpp"
#include "rewritten_kernels.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

std::vector<std::string> const counted = {"sm__cycles_active.avg", "dram__bytes_read.sum",
                                          "lts__t_bytes.sum"};
std::vector<std::string> const others = {"sm__cycles_active.avg", "dram__bytes_write.sum",
                                         "sm__pipe_tensor_cycles_active.avg"};
std::vector<std::string> const rewriting = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"};

std::vector<std::string> const tensor = {
    "sm__ops_path_tensor_src_fp8.sum",           "sm__ops_path_tensor_src_fp64.sum",
    "sm__ops_path_tensor_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_src_tf32_dst_fp32.sum",
    "sm__ops_path_tensor_src_fp16.sum",          "sm__ops_path_tensor_src_int8.sum"};

loaded_cupti cupti;
float* out = nullptr;

using clock_type = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;

/// A program at work: launches, waits, and so on, and how long the longest round of a time was.
class worker {
 public:
  worker() : thread_([this] { run(); }) {}
  ~worker() {
    done_ = true;
    thread_.join();
  }
  void begin() {
    longest_ns_ = 0;
    begun_ns_ = clock_type::now().time_since_epoch().count();
  }
  milliseconds longest() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the round that is under way
    return std::chrono::nanoseconds(longest_ns_.load());
  }
  /// It stands still while a range is open: what it ran would be counted, and waited for.
  void hold(bool now) {
    held_ = now;
    while (now && !holds_ && !done_) std::this_thread::yield();
  }

 private:
  void run() {
    cudaStream_t stream;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;
    while (!done_) {
      holds_ = held_.load();
      if (holds_) continue;
      auto const before = clock_type::now().time_since_epoch().count();
      something_else_on(stream, out);
      cudaStreamSynchronize(stream);
      auto const after = clock_type::now().time_since_epoch().count();
      auto const took = after - std::max<long long>(before, begun_ns_);
      if (took > longest_ns_) longest_ns_ = took;
    }
  }
  std::atomic<bool> done_{false}, held_{false}, holds_{false};
  std::atomic<long long> longest_ns_{0}, begun_ns_{0};
  std::thread thread_;
};
worker* at_work = nullptr;

/// Runs a step that gives a result, and says how it went.
template <class Step>
auto timed(char const* what, Step&& step) {
  if (at_work != nullptr) at_work->begin();
  auto const begin = clock_type::now();
  auto done = step();
  milliseconds const took = clock_type::now() - begin;
  auto const held = at_work != nullptr ? at_work->longest() : milliseconds{0};
  std::printf("%-46s %8.2f ms, held others %8.2f ms  %s\n", what, took.count(), held.count(),
              done ? "ok" : done.message().c_str());
  return done;
}

struct bench {
  CUcontext context = nullptr;
  std::unique_ptr<host_profiler> ranges, sampling;
  std::unique_ptr<range_profiler> profiler;
  std::unique_ptr<pm_sampling> sampler;
  range_setup setup;

  bool open_ranges(std::vector<std::string> const& metrics, std::size_t most = 32) {
    auto opened = timed("range: enable", [&] { return range_profiler::open(cupti.api, context); });
    if (!opened) return false;
    profiler = std::move(*opened);
    auto configuration = ranges->configure(metrics);
    if (!configuration) return false;
    auto made = timed("range: make image", [&] {
      return profiler->make_setup(std::move(*configuration), metrics, most);
    });
    if (!made) return false;
    setup = std::move(*made);
    return true;
  }
  bool start_ranges() {
    return timed("range: set config", [&] { return profiler->configure(setup); }) &&
           timed("range: start", [&] { return profiler->start(); });
  }
  void read_one() {
    at_work->hold(true);
    (void)timed("range: push, kernel, pop", [&]() -> result<void> {
      if (!profiler->push("0")) return error{"push failed"};
      multiply_and_add(out);
      if (!profiler->pop()) return error{"pop failed"};
      return {};
    });
    at_work->hold(false);
  }
  void stop_ranges() {
    (void)timed("range: stop", [&] { return profiler->stop(); });
  }
  /// Whether rewriting may share a configuration with the rest, whether a pass can be decoded
  /// before the others have run, and what each tells. Each is asked for as the first: CUPTI takes
  /// the next.
  void read_both() {
    auto both = counted;
    both.insert(both.end(), tensor.begin(), tensor.end());
    auto const without = ranges->configure(both);
    both.insert(both.end(), rewriting.begin(), rewriting.end());
    auto const configuration = ranges->configure(both);
    if (!without || !configuration) return;
    std::printf("passes: %zu, with rewriting %zu\n", without->passes, configuration->passes);
    if (!open_ranges(both)) return;
    for (std::size_t i = 0; i <= configuration->passes; ++i) read_pass();
    close_ranges();
  }
  void read_pass() {
    if (!timed("range: set config", [&] { return profiler->configure(setup); }) ||
        !timed("range: start", [&] { return profiler->start(); }))
      return;
    read_one();
    stop_ranges();
    auto const found = timed("range: decode", [&] { return profiler->decode(); });
    if (!found) return;
    auto const values = ranges->evaluate(found->image, 0, setup.metrics);
    if (!values) return void(std::puts(values.message().c_str()));
    for (std::size_t i = 0; i < values->size(); ++i)
      std::printf("%s%s=%.0f", i == 0 ? "  " : ", ", setup.metrics[i].c_str(), (*values)[i]);
    std::puts("");
  }
  void close_ranges() {
    (void)timed("range: disable", [&]() -> result<void> {
      profiler.reset();
      return {};
    });
  }
  bool open_sampling() {
    auto configuration = sampling->configure(counted);
    if (!configuration) return false;
    bool busy = false;
    auto opened = timed("sampling: enable, set config, image", [&] {
      return pm_sampling::open(cupti.api, device_id{0},
                               {.configuration = std::move(*configuration),
                                .metrics = counted,
                                .interval_ns = 20'000,
                                .hardware_buffer_bytes = std::size_t{128} << 20,
                                .max_samples = 256,
                                .by_cycles = false,
                                .keeps_oldest = false},
                               busy);
    });
    if (!opened) return false;
    sampler = std::move(*opened);
    return true;
  }
  void sample() {
    bool busy = false;
    if (!timed("sampling: start", [&] { return sampler->start(busy); })) return;
    multiply_and_add(out);
    cudaDeviceSynchronize();
    (void)timed("sampling: stop", [&] { return sampler->stop(); });
    (void)timed("sampling: decode", [&] { return sampler->decode(*sampling); });
  }
  void close_sampling() {
    (void)timed("sampling: disable", [&]() -> result<void> {
      sampler.reset();
      return {};
    });
  }
};

void say(char const* what) {
  std::printf("-- %s\n", what);
}

}  // namespace

int main() {
  auto loaded = load_cupti(13);
  if (!loaded) return std::puts(loaded.message().c_str()), 1;
  cupti = std::move(*loaded);
  open_nvperf_host(cupti);
  if (cudaMalloc(&out, 4) != cudaSuccess) return 1;
  multiply_and_add(out);
  cudaDeviceSynchronize();
  worker other;
  at_work = &other;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  bench on;
  auto const current = reinterpret_cast<decltype(&cuCtxGetCurrent)>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxGetCurrent"));
  if (current == nullptr || current(&on.context) != CUDA_SUCCESS) return 1;

  (void)timed("initialize", [&] { return open_counters(cupti.api, counter_engine::ranges, 0); });
  auto const chip = chip_name(cupti.api, 0);
  auto available =
      timed("availability for ranges", [&] { return counter_availability(cupti.api, on.context); });
  if (!available) return 1;
  bool busy = false;
  auto const sampled = timed("availability for sampling",
                             [&] { return sampling_availability(cupti.api, device_id{0}, busy); });
  if (!sampled) return 1;
  std::printf("both availabilities: %zu and %zu bytes, %s\n", available->size(), sampled->size(),
              *available == *sampled ? "the same" : "not the same");
  on.ranges = std::make_unique<host_profiler>(
      *host_profiler::open(cupti.api, counter_engine::ranges, chip, *available));
  auto const with_sampling_image =
      host_profiler::open(cupti.api, counter_engine::ranges, chip, *sampled);
  auto const with_none = host_profiler::open(cupti.api, counter_engine::ranges, chip);
  auto const config = on.ranges->configure(counted);
  for (auto const* other : {&with_sampling_image, &with_none}) {
    auto const found = *other ? (**other).configure(counted)
                              : result<counter_configuration>(error{other->message()});
    std::printf("configuration with %s: %s\n",
                other == &with_none ? "no availability" : "that of sampling",
                !found                          ? found.message().c_str()
                : found->image == config->image ? "the same"
                                                : "not the same");
  }
  on.sampling = std::make_unique<host_profiler>(
      *host_profiler::open(cupti.api, counter_engine::sampling, chip, *sampled));

  for (int round = 0; round < 2; ++round) {
    say("ranges alone, enabled twice");
    if (!on.open_ranges(counted) || !on.start_ranges()) return 1;
    on.read_one();
    on.read_one();
    on.stop_ranges();
    on.start_ranges();
    on.stop_ranges();
    on.close_ranges();
  }
  say("ranges with room for one and for 512, other metrics, metrics that rewrite");
  if (on.open_ranges(counted, 1) && on.start_ranges()) on.stop_ranges();
  on.close_ranges();
  if (on.open_ranges(counted, 512) && on.start_ranges()) on.stop_ranges();
  on.close_ranges();
  if (on.open_ranges(others) && on.start_ranges()) on.stop_ranges();
  on.close_ranges();
  for (int round = 0; round < 2; ++round) {
    if (on.open_ranges(rewriting) && on.start_ranges()) {
      on.read_one();
      on.stop_ranges();
    }
    on.close_ranges();
  }
  say("sampling alone, twice");
  for (int round = 0; round < 2; ++round) {
    if (!on.open_sampling()) return 1;
    on.sample();
    on.sample();
    on.close_sampling();
  }
  say("ranges enabled and stopped, then sampling");
  if (on.open_ranges(counted) && on.start_ranges()) on.stop_ranges();
  if (on.open_sampling()) {
    on.sample();
    say("and ranges again beside it, enabled");
    if (on.start_ranges()) {
      on.read_one();
      on.stop_ranges();
    }
    on.sample();
    on.close_sampling();
  }
  if (on.start_ranges()) on.stop_ranges();
  on.close_ranges();
  say("sampling enabled, then ranges");
  if (on.open_sampling()) {
    on.sample();
    if (on.open_ranges(counted) && on.start_ranges()) {
      on.read_one();
      on.stop_ranges();
    }
    on.sample();
    on.close_ranges();
    on.sample();
    on.close_sampling();
  }
  say("one configuration for counters and for rewriting");
  on.read_both();
  say("ranges enabled, never started, then sampling");
  on.open_ranges(counted);
  if (on.open_sampling()) on.sample();
  on.close_sampling();
  on.close_ranges();
  return 0;
}
