// SPDX-License-Identifier: Apache-2.0
#include "replay/player/endings.hpp"

#include "replay/player/performance.hpp"

#include <nvtx3/nvToolsExt.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gpuprof::replay {
namespace {

constexpr std::array<std::pair<std::string_view, ending>, 9> named{{
    {"normal", ending::normal},
    {"_exit", ending::underscore_exit},
    {"kill", ending::kill},
    {"throw", ending::throw_exception},
    {"abort", ending::abort},
    {"fork", ending::fork},
    {"exec", ending::exec},
    {"in-flight", ending::in_flight},
    {"device-reset", ending::device_reset},
}};

// A child that hangs at exit is the fault a profiler is most likely to cause here.
void fork_and_wait() {
  std::fflush(nullptr);
  auto const child = fork();
  if (child == 0) {
    nvtxRangePushA("in the forked child");
    nvtxRangePop();
    std::exit(0);
  }
  for (int tenths = 0; tenths < 100; ++tenths) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      bool const well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      std::printf("gpuprof-play: child=%s\n", well ? "exited" : "failed");
      if (!well) std::exit(3);
      return;
    }
    usleep(100'000);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::printf("gpuprof-play: child=hung\n");
  std::exit(3);
}

void run_again(char** arguments) {
  std::vector<char*> kept;
  for (auto** a = arguments; *a != nullptr; ++a) {
    if (std::strcmp(*a, "--exit-with") == 0 && a[1] != nullptr) {
      ++a;
    } else if (std::strncmp(*a, "--exit-with=", 12) != 0) {
      kept.push_back(*a);
    }
  }
  kept.push_back(nullptr);
  std::fflush(nullptr);
  execv("/proc/self/exe", kept.data());
  std::perror("gpuprof-play: execv");
  std::exit(3);
}

}  // namespace

std::optional<ending> ending_named(std::string_view name) {
  for (auto const& [text, value] : named) {
    if (text == name) return value;
  }
  return std::nullopt;
}

std::string_view ending_names() {
  static auto const* const all = [] {
    auto* const text = new std::string;
    for (auto const& [name, value] : named)
      *text += (text->empty() ? "" : ", ") + std::string(name);
    return text;
  }();
  return *all;
}

void carry_out(ending how, performance& p, char** arguments) {
  switch (how) {
    case ending::normal:
      break;
    case ending::underscore_exit:
      _exit(0);
    case ending::kill:
      kill(getpid(), SIGKILL);
      break;
    case ending::throw_exception:
      throw std::runtime_error("gpuprof-play was told to throw");
    case ending::abort:
      std::abort();
    case ending::fork:
      fork_and_wait();
      break;
    case ending::exec:
      run_again(arguments);
      break;
    case ending::in_flight:
      p.gpu().never_finish();
      break;
    case ending::device_reset:
      p.reset_device();
      break;
  }
}

}  // namespace gpuprof::replay
