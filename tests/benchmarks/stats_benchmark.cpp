// SPDX-License-Identifier: Apache-2.0
// What `gpuprof stats` costs on a long capture: time and peak memory of the real command, against
// the goals of 2 s and 1 GiB for ten million kernels.
#include "capture/writer.hpp"
#include "model/name_table.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <random>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace gpuprof;

namespace {

constexpr std::uint32_t kernel_names = 60;
constexpr std::uint32_t shapes = 240;
constexpr std::uint64_t kernels_per_range = 20;

timestamp_ns at(std::uint64_t nanoseconds) {
  return {1'700'000'000'000'000'000 + nanoseconds};
}

/// A training loop: steps of ten inner ranges, each of which launches twenty kernels on one stream.
void write_capture(std::string const& path, std::uint64_t kernels) {
  auto made = capture::writer::create(path, capture::create_mode::overwrite);
  if (!made) {
    std::fprintf(stderr, "%s\n", made.message().c_str());
    std::exit(1);
  }
  auto& file = **made;
  name_table names;
  auto const name = [&](std::string const& text) {
    auto const known = names.size();
    auto const id = names.intern(text);
    if (names.size() > known) file.add_name(id, text);
    return id;
  };
  for (std::uint32_t i = 0; i < shapes; ++i) {
    kernel_shape shape;
    shape.id = static_cast<shape_id>(i + 1);
    shape.name = name("_Z9kernel_" + std::to_string(10 + i % kernel_names) + "IfEvPT_i");
    shape.grid = {i + 1, 1, 1};
    shape.block = {256, 1, 1};
    file.add(shape);
  }
  file.add(window_record{.index = 0, .start = at(0), .end = at(kernels * 3000), .trigger = {}});

  std::mt19937_64 random(1);
  std::uint64_t ranges = 0, gpu_free = 0;
  range_id step{}, inner{};
  auto const begin = [&](char const* text, range_id parent, std::uint64_t now) {
    auto const id = static_cast<range_id>((1ull << 40) + ++ranges);
    file.add(range_begin{.time = at(now),
                         .range = id,
                         .parent = parent,
                         .thread = static_cast<thread_index>(1),
                         .level = static_cast<std::uint16_t>(raw(parent) == 0 ? 0 : 1),
                         .name = name(text)});
    return id;
  };
  for (std::uint64_t i = 0; i < kernels; ++i) {
    auto const now = i * 3000 + random() % 500;
    if (i % kernels_per_range == 0) {
      if (raw(inner) != 0)
        file.add(range_end{at(i * 3000 - 1), inner, static_cast<thread_index>(1)});
      if (i % (10 * kernels_per_range) == 0) {
        if (raw(step) != 0)
          file.add(range_end{at(i * 3000 - 1), step, static_cast<thread_index>(1)});
        step = begin("step", {}, now);
      }
      inner = begin(i % (2 * kernels_per_range) == 0 ? "forward" : "backward", step, now);
    }
    kernel_record kernel;
    auto const start = std::max(now + 3000 + random() % 3000, gpu_free);
    kernel.start = at(start);
    kernel.duration = {static_cast<std::int64_t>(1500 + random() % 1300)};
    gpu_free = start + static_cast<std::uint64_t>(kernel.duration.value);
    kernel.launched = at(now);
    kernel.shape = static_cast<shape_id>(1 + random() % shapes);
    kernel.context = static_cast<context_id>(1);
    kernel.stream = static_cast<stream_id>(7);
    kernel.correlation = static_cast<correlation_id>(i + 1);
    kernel.thread = static_cast<thread_index>(1);
    kernel.range = inner;
    file.add(kernel);
  }
  if (auto const closed = file.close(); !closed)
    std::fprintf(stderr, "%s\n", closed.message().c_str());
}

struct cost {
  double seconds = 0;
  double mebibytes = 0;
  bool succeeded = false;
};

cost run_stats(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  auto const started = std::chrono::steady_clock::now();
  auto const child = fork();
  if (child == 0) {
    auto const nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  auto const seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return {seconds, static_cast<double>(used.ru_maxrss) / 1024,
          WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t const kernels = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  auto const folder = std::getenv("TMPDIR");
  auto const path = std::string(folder != nullptr ? folder : "/tmp") + "/gpuprof_stats_benchmark_" +
                    std::to_string(getpid()) + ".gpuprof";
  write_capture(path, kernels);

  bool all_met = true;
  std::printf("%llu kernels in %llu ranges\n", static_cast<unsigned long long>(kernels),
              static_cast<unsigned long long>(kernels / kernels_per_range * 11 / 10));
  for (std::string const reports :
       {"default", "cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum", "nvtx_sum", "nvtx_kern_sum",
        "nvtx_gpu_proj_sum", "cuda_gpu_trace -f csv"}) {
    std::vector<std::string> command = {GPUPROF_CLI, "stats", path};
    if (reports != "default") {
      command.insert(command.end(), {"-f", "csv", "-r", reports.substr(0, reports.find(' '))});
    }
    auto const used = run_stats(command);
    // The trace is ten million lines of text: it has no goal but the memory.
    auto const met = used.succeeded && used.mebibytes <= 1024 &&
                     (used.seconds <= 2 || reports.starts_with("cuda_gpu_trace"));
    all_met = all_met && met;
    std::printf("%-24s %7.2f s %8.0f MiB  %s\n", reports.c_str(), used.seconds, used.mebibytes,
                met ? "" : "goal missed");
  }
  unlink(path.c_str());
  return all_met ? 0 : 1;
}
