// SPDX-License-Identifier: Apache-2.0
// What `gpuprof stats` costs on a long capture: time and peak memory of the real command, against
// the goals of 2 s and 1 GiB for ten million kernels.
#include "long_capture.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace gpuprof;

namespace {

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
  long_capture::write_capture(path, kernels);

  bool all_met = true;
  std::printf("%llu kernels in %llu ranges\n", static_cast<unsigned long long>(kernels),
              static_cast<unsigned long long>(kernels / long_capture::kernels_per_range * 11 / 10));
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
