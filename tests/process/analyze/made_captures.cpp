// SPDX-License-Identifier: Apache-2.0
// gpuprof_analyze_captures FOLDER: writes a capture for each case of analyze_test.py.
#include "host/analysis/flop_accounting.hpp"
#include "process/export/made_capture.hpp"

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

/// Ten steps: a kernel, a wait, half of the step without work. `rank` -1: of no job.
void steps(std::string const& path, int rank, std::uint64_t kernel_ns,
           std::string_view unified_memory = {}) {
  made_capture out(path);
  if (!unified_memory.empty()) out.fact("trace.um", unified_memory);
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

/// gpuprof_step() of two threads in turn, five steps of a millisecond each; the last are open.
void two_threads(std::string const& path) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, 8'000'000);
  auto const shape = out.shape("work");
  for (std::uint64_t i = 1; i <= 6; ++i)
    for (std::uint32_t thread = 1; thread <= 2; ++thread) {
      auto const begin = i * 1'000'000 + thread * 300'000;
      auto const id = static_cast<range_id>((std::uint64_t{thread} << 40) + i);
      out.add(range_begin{.time = at(begin),
                          .range = id,
                          .thread = static_cast<thread_index>(thread),
                          .name = out.name("step"),
                          .domain = out.name("gpuprof"),
                          .payload = payload_kind::unsigned64,
                          .payload_bits = i});
      auto kernel = out.kernel(shape, begin + 10'000, 100'000);
      kernel.range = id;
      kernel.thread = static_cast<thread_index>(thread);
      out.add(kernel);
      if (i < 6) out.add(range_end{at(begin + 1'000'000), id, static_cast<thread_index>(thread)});
    }
}

/// Products of 1e9 FLOP each as ranges declare, of which the GPU computed `counted`; beside one
/// that shares its range with another kernel, of which the declaration says nothing.
void products(std::string const& path, double counted) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, 40'000'000);
  std::vector<metric_id> ids;
  for (auto const& counter : flop_counters())
    if (has_counter("GH100", counter).value_or(false)) {
      ids.push_back(static_cast<metric_id>(ids.size() + 1));
      out.add(metric_record{.metric = ids.back(), .name = out.name(counter.metric)});
    }
  auto const padded = out.shape("padded"), first = out.shape("first"), second = out.shape("second");
  auto const run = [&](shape_id shape, std::uint64_t start, range_id range) {
    auto kernel = out.kernel(shape, start, 500'000);
    kernel.range = range;
    out.add(kernel);
    out.add(read_launch_record{.correlation = kernel.correlation,
                               .opened = kernel.launched,
                               .closed = kernel.start + kernel.duration});
    for (auto const id : ids)
      out.add(reading_value_record{kernel.correlation, id, id == ids.back() ? counted : 0});
  };
  for (std::uint64_t i = 1; i <= 12; ++i) {
    auto const begin = i * 3'000'000;
    auto const alone = out.begin_with_work("matmul", begin, 2e9);
    run(padded, begin + 1'000, alone);
    run(padded, begin + 600'000, alone);
    out.end(alone, begin + 1'200'000);
    auto const both = out.begin_with_work("layer", begin + 1'200'000, 1e9);
    run(first, begin + 1'300'000, both);
    run(second, begin + 1'900'000, both);
    out.end(both, begin + 2'500'000);
  }
}

/// The set explain was asked for. `is_read`: and read, of one launch of ten.
void explained(std::string const& path, bool is_read) {
  constexpr auto stalled = metric_id{7};
  made_capture out(path);
  out.describe("4242");
  out.fact("environment.GPUPROF_METRICS", "auto");
  out.fact("environment.GPUPROF_SET", "explain");
  out.window(0, 11'000'000);
  out.dram_roof(4e12);
  out.metric(stalled, "smsp__warps_issue_stalled_long_scoreboard.sum");
  auto const shape = out.shape("_Z4gemmIfEvPKT_S2_PS0_i");
  for (std::uint64_t i = 0; i < 10; ++i) {
    auto const kernel = out.kernel(shape, (i + 1) * 1'000'000, 400'000);
    out.add(kernel);
    if (i == 5 && is_read) out.counted(kernel, stalled, 1000);
  }
}

void only_ranges(std::string const& path) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, 1'000'000);
  out.end(out.begin("step", 1000), 4000);
}

/// Twenty steps of a millisecond. The profiler holds the second rank for 200 us of each, before its
/// collective.
void held(std::string const& path, int rank) {
  constexpr std::uint64_t us = 1000, step_ns = 1000 * us, count = 20;
  made_capture out(path);
  out.describe(std::to_string(6000 + rank), rank, 2);
  auto const work = out.shape("_Z4workPf"), sum = out.shape("_Z31ncclDevKernel_AllReduce_Sum_f32v");
  out.window(0, count * step_ns);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const begin = i * step_ns;
    auto const step = out.begin("step", begin);
    auto const add = [&](shape_id shape, std::uint64_t launched, std::uint64_t from,
                         std::uint64_t to) {
      auto kernel =
          out.kernel(shape, begin + from * us, static_cast<std::int64_t>((to - from) * us));
      kernel.launched = at(begin + launched * us);
      kernel.range = step;
      out.add(kernel);
    };
    add(work, 5, 10, 310);
    add(sum, 315, rank == 0 ? 320 : 520, 600);
    if (rank == 1) out.add(hold_record{.start = at(begin + 315 * us), .duration = {200 * us}});
    out.end(step, begin + 900 * us);
  }
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
  steps(in("um.gpuprof"), -1, 400'000, "on");
  steps(in("no_um.gpuprof"), -1, 400'000, "off");
  two_threads(in("two_threads.gpuprof"));
  products(in("padded.gpuprof"), 1.25e9);
  products(in("unpadded.gpuprof"), 1.04e9);
  explained(in("explained.gpuprof"), true);
  explained(in("too_short_to_explain.gpuprof"), false);
  only_ranges(in("only_ranges.gpuprof"));
  held(in("held.rank0.gpuprof"), 0);
  held(in("held.rank1.gpuprof"), 1);
  empty(in("empty.gpuprof"));
}
