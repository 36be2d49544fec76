// SPDX-License-Identifier: Apache-2.0
// Writes captures that no program of a test would make: hostile names, nothing but ranges, millions
// of kernels.
//
//   gpuprof-made-captures FOLDER                   all small ones, one file each
//   gpuprof-made-captures FILE --training KERNELS [--rank R] [--calls]  a long training
//   gpuprof-made-captures FILE --profiled-job STEPS --rank R  a rank of four, with everything
//   gpuprof-made-captures FILE --job STEPS --rank R           a rank of eight on two hosts
//   gpuprof-made-captures FILE --fleet DAY --rank R [STEPS]   a rank of eight, 0 or 1 day later
//   gpuprof-made-captures FILE --start-end COUNT  start/end ranges that overlap, no others
//   gpuprof-made-captures FILE --streams | --ranges | --steps | --counted COUNT
//   gpuprof-made-captures FILE --long-kernel SECONDS
//   gpuprof-made-captures FILE --fault NAME [--mended] [--launches]  see planted_faults.cpp
#include "made_capture.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

using namespace gpuprof;

namespace {

/// Texts that break formats: each is the name of a kernel, of a range and of a domain.
void hostile(std::string const& path) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, 1'000'000);
  std::string const texts[] = {"quotes \" ' ` and \\ backslash",
                               "</script><img src=x onerror=alert(1)>",
                               "line\nbreak, tab\t and \x01\x1f\x7f controls",
                               std::string("bad \xff\x80 bytes \xc3"),
                               std::string("a\0b", 3),
                               "comma, semicolon; pipe |",
                               "=cmd|' /C calc'!A0",
                               "\xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x9a\x80",
                               "%s %n {0} ${HOME}",
                               std::string(64 << 10, 'x'),
                               ""};
  std::uint64_t now = 1000;
  for (auto const& text : texts) {
    auto const range = out.begin(text, now, {}, text);
    auto kernel = out.kernel(out.shape(text), now + 1000, 700);
    kernel.range = range;
    out.add(kernel);
    out.add(mark_record{
        .time = at(now + 1500), .thread = static_cast<thread_index>(1), .name = out.name(text)});
    out.end(range, now + 2000);
    now += 3000;
  }
}

void only_ranges(std::string const& path) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, 1'000'000);
  auto const outer = out.begin("step", 1000);
  auto const inner = out.begin("forward", 2000, outer);
  out.end(inner, 3000);
  out.end(outer, 4000);
  out.begin("never ends", 5000);
}

/// Python frames of two threads: the first has a range that ends between two launches, calls, and
/// was looked at; the second has operators of PyTorch, and launches without calls.
void python(std::string const& path) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, 100'000);
  auto const stack = [&](std::uint32_t id, std::uint32_t caller, std::string_view file,
                         std::string_view function, std::uint32_t line, std::string_view module) {
    out.add(stack_record{.stack = static_cast<stack_id>(id),
                         .caller = static_cast<stack_id>(caller),
                         .file = out.name(file),
                         .function = out.name(function),
                         .first_line = 1,
                         .line = line,
                         .module = module.empty() ? name_id{} : out.name(module)});
  };
  stack(1, 0, "/home/me/train.py", "<module>", 10, {});
  stack(2, 1, "/home/me/model.py", "Model.forward", 20, {});
  stack(3, 2, "/opt/lib/python3.12/site-packages/torch/nn/modules/linear.py", "Linear.forward", 125,
        "fc: Linear");
  stack(4, 0, "/home/me/train.py", "<module>", 11, {});
  auto const shape = out.shape("_ZN2ns12_GLOBAL__N_15scaleIfEEvPT_");
  auto const range = out.begin("step", 1000);
  constexpr std::uint32_t stacks[] = {3, 2, 0, 2, 2};
  for (std::uint64_t i = 0; i < 5; ++i) {
    auto kernel = out.kernel(shape, 2500 + 2000 * i, 700);
    if (i < 4) kernel.range = range;
    kernel.stack = static_cast<stack_id>(stacks[i]);
    out.add(kernel);
    out.launching_call(kernel, 400);
  }
  out.end(range, 9000);
  out.add(thread_sample_record{.start = at(14'000),
                               .duration = {4000},
                               .os_thread = 4242,
                               .looks = 2,
                               .stack = static_cast<stack_id>(4)});
  for (std::uint64_t i = 0; i < 2; ++i) {
    auto const op = static_cast<range_id>((1ull << 40) + 1000 + i);
    auto const worker = static_cast<thread_index>(2);
    out.add(range_begin{.time = at(20'000 + 5000 * i),
                        .range = op,
                        .thread = worker,
                        .name = out.name("aten::mul"),
                        .domain = out.name("torch"),
                        .category = 1});
    auto kernel = out.kernel(shape, 21'500 + 5000 * i, 700);
    kernel.thread = worker;
    kernel.range = op;
    kernel.stack = static_cast<stack_id>(2);
    out.add(kernel);
    out.add(range_end{at(23'000 + 5000 * i), op, worker});
  }
}

/// Each ends in the middle of the next; a kernel is launched at the beginning of each, and runs
/// when the range has ended.
void start_end(std::string const& path, std::uint64_t count) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, count * 1000 + 3000);
  auto const shape = out.shape("_ZN2ns12_GLOBAL__N_15scaleIfEEvPT_");
  for (std::uint64_t i = 0; i < count; ++i) {
    auto const range = static_cast<range_id>(i + 1);
    out.add(range_begin{.time = at(1000 * i + 1000),
                        .range = range,
                        .thread = static_cast<thread_index>(2),
                        .style = range_style::start_end,
                        .name = out.name("request " + std::to_string(i % 2))});
    out.add(range_end{at(1000 * i + 2500), range, static_cast<thread_index>(1)});
    auto kernel = out.kernel(shape, 1000 * i + 2600, 300);
    kernel.launched = at(1000 * i + 1000);
    out.add(kernel);
  }
}

/// Kernels that overlap on one stream (as of graphs), out of order in the file, a pid above 2^22,
/// times before the capture began, a copy of length 0.
void odd(std::string const& path) {
  made_capture out(path);
  out.describe("4194999");
  out.window(10'000, 900'000);
  auto const shape = out.shape("_Z5scaleIfEvPT_i");
  out.add(out.kernel(shape, 30'000, 20'000));
  out.add(out.kernel(shape, 20'000, 20'000));
  out.add(out.kernel(shape, 25'000, 1'000));
  out.add(out.kernel(shape, 5'000, 1'000));
  auto never_launched = out.kernel(shape, 60'000, 0);
  never_launched.launched = {};
  never_launched.thread = {};
  out.add(never_launched);
  copy_record copy;
  copy.start = at(70'000);
  copy.bytes = 4096;
  copy.kind = copy_kind::host_to_device;
  copy.source_kind = memory_kind::pageable;
  copy.destination_kind = memory_kind::device;
  copy.context = context_id{1};
  copy.stream = stream_id{7};
  copy.correlation = correlation_id{1000};
  out.add(copy);
}

/// Kernels were lost while it was recorded; a mark carries -0.0, the least of 64-bit integers.
void lossy(std::string const& path) {
  made_capture out(path);
  out.describe("4242");
  out.window(0, 1'000'000);
  out.add(out.kernel(out.shape("_Z5scaleIfEvPT_i"), 20'000, 1'000));
  out.add(counter_record{out.name("lost.kernels"), 5});
  out.add(mark_record{.time = at(1500),
                      .thread = static_cast<thread_index>(1),
                      .name = out.name("loss"),
                      .payload = payload_kind::float64,
                      .payload_bits = std::uint64_t{1} << 63});
}

void training(std::string const& path, std::uint64_t kernels, int rank, bool with_calls) {
  constexpr std::uint32_t shape_count = 240, kernel_names = 60;
  constexpr std::uint64_t in_range = 20;
  made_capture out(path);
  out.describe(std::to_string(5000 + (rank < 0 ? 0 : rank)), rank, 8);
  for (std::uint32_t i = 0; i < shape_count; ++i)
    out.shape("_Z9kernel_" + std::to_string(10 + i % kernel_names) + "IfEvPT_i", {i + 1, 1, 1});
  out.window(0, kernels * 3000);
  std::mt19937_64 random(static_cast<unsigned>(rank + 2));
  std::uint64_t gpu_free = 0;
  range_id step{}, inner{};
  for (std::uint64_t i = 0; i < kernels; ++i) {
    auto const now = i * 3000 + random() % 500;
    if (i % in_range == 0) {
      if (raw(inner) != 0) out.end(inner, i * 3000 - 1);
      if (i % (10 * in_range) == 0) {
        if (raw(step) != 0) out.end(step, i * 3000 - 1);
        step = out.begin("step", now);
      }
      inner = out.begin(i % (2 * in_range) == 0 ? "forward" : "backward", now, step);
    }
    auto kernel = out.kernel(static_cast<shape_id>(1 + random() % shape_count), 1000, 0);
    auto const start = std::max(now + 3000 + random() % 3000, gpu_free);
    kernel.start = at(start);
    kernel.duration = {static_cast<std::int64_t>(1500 + random() % 1300)};
    gpu_free = start + static_cast<std::uint64_t>(kernel.duration.value);
    kernel.launched = at(now);
    kernel.range = inner;
    out.add(kernel);
    if (with_calls) out.launching_call(kernel, 1800);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string const where = argc > 1 ? argv[1] : ".";
  auto const has = [&](std::string_view option) {
    return std::find(argv + std::min(argc, 4), argv + argc, option) != argv + argc;
  };
  if (argc > 3 && std::string_view(argv[2]) == "--training") {
    auto const has_rank = argc > 5 && std::string_view(argv[4]) == "--rank";
    training(where, std::strtoull(argv[3], nullptr, 10), has_rank ? std::atoi(argv[5]) : -1,
             has("--calls"));
    return 0;
  }
  if (argc > 3 && std::string_view(argv[2]) == "--fault") {
    recorded_calls const recorded{.launches_too = has("--launches"),
                                  .by_driver = !has("--runtime-names"),
                                  .by_runtime = has("--runtime-names") || has("--both-names")};
    return write_planted_fault(where, argv[3], has("--mended"), recorded) ? 0 : 2;
  }
  if (argc > 3 && std::string_view(argv[2]) == "--start-end") {
    start_end(where, std::strtoull(argv[3], nullptr, 10));
    return 0;
  }
  if (argc > 3 && write_timeline_shape(where, argv[2], std::strtoull(argv[3], nullptr, 10)))
    return 0;
  if (argc > 5) {
    auto const number = std::strtoull(argv[3], nullptr, 10);
    auto const rank = std::atoi(argv[5]);
    auto const what = std::string_view(argv[2]);
    if (what == "--profiled-job") write_profiled_job(where, number, rank);
    if (what == "--job") write_job_rank(where, number, static_cast<unsigned>(rank));
    if (what == "--fleet")
      write_fleet_rank(where, number, static_cast<unsigned>(rank),
                       argc > 6 ? std::strtoull(argv[6], nullptr, 10) : 10);
    return 0;
  }
  hostile(where + "/hostile.gpuprof");
  only_ranges(where + "/only_ranges.gpuprof");
  odd(where + "/odd.gpuprof");
  lossy(where + "/lossy.gpuprof");
  python(where + "/python.gpuprof");
  write_rare_work(where + "/rare.gpuprof", 4300);
  write_rare_work(where + "/large_pid.gpuprof", (1u << 24) + 4300);
  { made_capture const empty(where + "/empty.gpuprof"); }
  return 0;
}
