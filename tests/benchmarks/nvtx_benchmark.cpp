// SPDX-License-Identifier: Apache-2.0
// What a range costs on the program's thread: recorded, kept only, and with no tool at all.
#include <gpuprof/gpuprof.hpp>

#include "guest/nvtx/injection.hpp"
#include "guest/nvtx/log_decoder.hpp"
#include "guest/nvtx/log_writer.hpp"
#include "guest/nvtx/ranges.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <dlfcn.h>

namespace {

using namespace gpuprof;
using namespace gpuprof::guest;

memory_budget budget(256u << 20);

struct nothing {
  void launch(launch_note const&) {}
  void call(driver_call_note const&) {}
  void stack(stack_note const&) {}
  void sample(thread_sample_note const&) {}
  void graph_node(graph_node_note const&) {}
  void begin(range_begin const&) {}
  void end(range_end const&) {}
  void mark(mark_record const&) {}
};

void drain_now_and_then(benchmark::State& state, std::size_t& since) {
  if (++since < 10'000) return;
  state.PauseTiming();
  nothing sink;
  drain_all_logs(sink);
  since = 0;
  state.ResumeTiming();
}

// The whole way of an NVTX call: NVTX's own slot, our callback, the ring. This program is its own
// tool through NVTX's static injection.
void push_pop(benchmark::State& state) {
  log_is_recording = state.range(0) != 0;
  std::size_t since = 0;
  for (auto _ : state) {
    nvtxRangePushA("forward pass");
    nvtxRangePop();
    drain_now_and_then(state, since);
  }
  log_is_recording = false;
}

void registered_push_pop(benchmark::State& state) {
  auto const domain = nvtxDomainCreateA("bench");
  nvtxEventAttributes_t a{};
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = nvtxDomainRegisterStringA(domain, "forward pass");
  log_is_recording = state.range(0) != 0;
  std::size_t since = 0;
  for (auto _ : state) {
    nvtxDomainRangePushEx(domain, &a);
    nvtxDomainRangePop(domain);
    drain_now_and_then(state, since);
  }
  log_is_recording = false;
}

void scoped_range_with_work(benchmark::State& state) {
  log_is_recording = state.range(0) != 0;
  std::size_t since = 0;
  for (auto _ : state) {
    scoped_range const here("forward pass", work{2e9, 1e6});
    benchmark::DoNotOptimize(&here);
    drain_now_and_then(state, since);
  }
  log_is_recording = false;
}

void counted_step(benchmark::State& state) {
  log_is_recording = state.range(0) != 0;
  auto& log = *this_thread_log();
  std::size_t since = 0;
  for (auto _ : state) {
    end_step(log);
    begin_step(log);
    drain_now_and_then(state, since);
  }
  end_step(log);
  log_is_recording = false;
}

void start_end(benchmark::State& state) {
  log_is_recording = state.range(0) != 0;
  std::size_t since = 0;
  for (auto _ : state) {
    nvtxRangeEnd(nvtxRangeStartA("asynchronous"));
    drain_now_and_then(state, since);
  }
  log_is_recording = false;
}

void launch_note_written(benchmark::State& state) {
  log_is_recording = true;
  auto& log = *this_thread_log();
  std::size_t since = 0;
  std::uint32_t id = 0;
  for (auto _ : state) {
    write_launch(log, 1, correlation_id{++id}, 0);
    drain_now_and_then(state, since);
  }
  log_is_recording = false;
}

void decode(benchmark::State& state) {
  auto& log = *this_thread_log();
  nothing sink;
  log_is_recording = true;
  for (auto _ : state) {
    state.PauseTiming();
    for (int i = 0; i < 10'000; ++i) {
      nvtxRangePushA("r");
      write_launch(log, 1, correlation_id{1}, 0);
      nvtxRangePop();
    }
    state.ResumeTiming();
    benchmark::DoNotOptimize(drain_log(log, sink));
  }
  log_is_recording = false;
  state.SetItemsProcessed(state.iterations() * 30'000);
}

BENCHMARK(push_pop)->ArgName("recording")->Arg(1)->Arg(0);
BENCHMARK(registered_push_pop)->ArgName("recording")->Arg(1)->Arg(0);
BENCHMARK(scoped_range_with_work)->ArgName("recording")->Arg(1)->Arg(0);
BENCHMARK(counted_step)->ArgName("recording")->Arg(1)->Arg(0);
BENCHMARK(start_end)->ArgName("recording")->Arg(1)->Arg(0);
BENCHMARK(launch_note_written);
BENCHMARK(decode);

int attach(NvtxGetExportTableFunc_t get_export_table) {
  configure_thread_logs(&budget, 1u << 16);
  return inject_nvtx(get_export_table);
}
int attach_extension(nvtxExtModuleInfo_t* module) {
  configure_thread_logs(&budget, 1u << 16);
  return inject_nvtx_extension(module);
}

}  // namespace

int main(int argc, char** argv) {
  InitializeInjectionNvtx2_fnptr = attach;
  InitializeInjectionNvtxExtension_fnptr = attach_extension;
  unsetenv("NVTX_INJECTION64_PATH");
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
