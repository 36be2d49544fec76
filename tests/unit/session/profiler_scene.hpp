// SPDX-License-Identifier: Apache-2.0
// A process with the profiler in it and a CUPTI that the test plays. A process has one profiler, so
// each case forks.
#pragma once

#include "guest/cupti/sharing/shared_cupti.hpp"
#include "guest/session/process_profiler.hpp"
#include "support/catch.hpp"
#include "support/fake_cupti.hpp"
#include "support/scratch_folder.hpp"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gpuprof::test {
using namespace guest;

/// Lives as long as its process.
struct profiler_scene {
  explicit profiler_scene(std::string lines) : log_file(std::move(lines)), shared(cupti.library) {
    shared.become_the_one();
  }

  bool traces_kernels() const {
    return cupti.kinds().count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != 0;
  }
  /// A driver call of the program's ends: the place where CUPTI may be left.
  void a_call_ends() {
    CUpti_CallbackData data{};
    std::uint64_t kept = 0;
    data.correlationData = &kept;
    data.functionName = "cuCtxGetCurrent";
    if (cupti.subscribed())
      cupti.driver_call(CUPTI_API_EXIT, data, CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent);
  }
  /// What the drain thread does within milliseconds.
  bool soon(std::function<bool()> const& is_so) const {
    for (int i = 0; i < 5000; ++i) {
      if (is_so()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  /// How often the log has said this.
  std::size_t said(std::string const& words) const {
    std::ifstream in(log_file);
    std::string const all{std::istreambuf_iterator<char>(in), {}};
    std::size_t count = 0;
    for (auto at = all.find(words); at != all.npos; at = all.find(words, at + 1)) ++count;
    return count;
  }
  void expect(bool holds, char const* what, int line) {
    if (!holds) broken += "line " + std::to_string(line) + ": " + what + '\n';
  }

  std::string const log_file;
  fake_cupti cupti;
  shared_cupti shared;
  process_profiler& profiler = process_profiler::get();
  cuda_event_observer& cuda = profiler;  // as the callbacks see it
  range_observer& ranges = profiler;
  std::string broken;
};

/// Inside of in_a_process(): CHECK of another process.
#define EXPECT(...) s.expect(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __LINE__)

using variables = std::vector<std::pair<std::string, std::string>>;

/// What was not as expected, a line each; empty: all was.
inline std::string in_a_process(variables const& environment,
                                std::function<void(profiler_scene& s)> const& act) {
  scratch_folder const folder;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  auto const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // of a test that is going to fail
    auto const lines = folder / "lines";
    dup2(open(lines.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600), 2);
    setenv("GPUPROF_OUTPUT", (folder / "capture").c_str(), 1);
    for (auto const& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    auto& s = *new profiler_scene(lines);
    act(s);
    s.broken += '.';
    auto const written = write(ends[1], s.broken.data(), s.broken.size());
    _exit(written < 0);
  }
  close(ends[1]);
  std::string broken;
  char part[512];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;)
    broken.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (broken.empty() || broken.back() != '.')
    return broken + "the process ended with status " + std::to_string(status);
  broken.pop_back();
  return broken;
}

}  // namespace gpuprof::test
