// SPDX-License-Identifier: Apache-2.0
#include "peaks_beforehand.hpp"

#include "guest/peaks/measure.hpp"
#include "guest/peaks/obtain.hpp"
#include "guest/peaks/store/store.hpp"
#include "progress.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace gpuprof::host::command {

using namespace guest;

result<peaks::obtained> obtain_visibly(int device, std::string const& label,
                                       peaks::obtain_options asked) {
  terminal_line progress;
  asked.what.on_progress = [&](std::string_view test, std::size_t done, std::size_t all) {
    progress.show("gpuprof: " + label + "measuring " + std::string(test) + ", " +
                  std::to_string(done + 1) + " of " + std::to_string(all));
  };
  return peaks::obtain({peaks::key_of, peaks::measure}, device, asked);
}

namespace {

class lines {
 public:
  explicit lines(log_level level) : level_(level) {}

  void say(log_level level, std::string const& line) const {
    if (level >= level_) std::fprintf(stderr, "gpuprof: %s\n", line.c_str());
  }
  void say_missing(std::string const& what, std::string const& why) const {
    say(log_level::warning, what + ": " + why + ". The program is profiled all the same");
  }

 private:
  log_level level_;
};

/// Tests that failed then are not repeated before each program.
bool were_measured(int device) {
  auto const key = peaks::key_of(device);
  if (!key) return false;
  auto const stored = peaks::load_peaks(peaks::store_folder(), *key);
  return stored && stored->has_value();
}

void store_peaks(lines const& out, telling what) {
  auto const count = peaks::count_gpus();
  if (!count) {
    if (what == telling::all) out.say_missing("no peaks", count.message());
    return;
  }
  peaks::obtain_options asked;
  asked.what.tests = peaks::every_test();
  asked.folder = peaks::store_folder();
  for (int device = 0; device < *count; ++device) {
    if (what == telling::news && were_measured(device)) continue;
    auto const name = "GPU " + std::to_string(device);
    auto const made = obtain_visibly(device, *count > 1 ? name + ": " : std::string(), asked);
    if (!made) {
      out.say_missing("no peaks of " + name, made.message());
    } else if (!made->trouble.empty()) {
      out.say_missing("peaks of " + name, made->trouble);
    } else {
      out.say(log_level::info, "peaks of " + name + ": " + made->origin +
                                   (made->is_stored ? "" : " (--peaks off leaves that out)"));
    }
  }
}

/// Another tool that watches CUDA programs would watch this process, too, and slow it.
void forget_injected_tools() {
  unsetenv("CUDA_INJECTION64_PATH");
  unsetenv("NVTX_INJECTION64_PATH");
}

// If peaks were not requested, a GPU that does not respond must not keep the program from starting.
constexpr unsigned patience_s = 120;

[[noreturn]] void work_in_child(lines const& out, telling what) {
  if (what == telling::news) alarm(patience_s);
  forget_injected_tools();
  try {
    store_peaks(out, what);
  } catch (std::exception const& e) {
    out.say_missing("no peaks", e.what());
  }
  _exit(0);  // no exit handlers: they belong to the parent process
}

}  // namespace

void store_peaks_beforehand(log_level level, telling what) {
  lines const out(level);
  pid_t const child = fork();
  if (child == 0) work_in_child(out, what);
  if (child < 0) return out.say_missing("no peaks", std::strerror(errno));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return out.say_missing("no peaks", "measuring them took longer than two minutes");
  if (WIFSIGNALED(status))
    out.say_missing("no peaks",
                    "measuring them crashed with signal " + std::to_string(WTERMSIG(status)));
}

}  // namespace gpuprof::host::command
