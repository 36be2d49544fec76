// SPDX-License-Identifier: Apache-2.0
#include "run_program.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace gpuprof::host::command {
namespace {

struct injection {
  char const* variable;
  char const* lost;
};
constexpr std::array<injection, 2> injection_variables{{
    {"CUDA_INJECTION64_PATH",
     "if that tool takes CUPTI, kernels and copies are not recorded; unset it to be sure"},
    {"NVTX_INJECTION64_PATH",
     "the program's NVTX ranges go to that tool and are not recorded; unset it to record them"},
}};

variables read_environment(char const* const* inherited) {
  variables all;
  for (; inherited != nullptr && *inherited != nullptr; ++inherited) {
    std::string_view const entry = *inherited;
    auto const equals = entry.find('=', 1);
    if (equals == std::string_view::npos) continue;
    all.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return all;
}

bool same_file(std::string const& a, std::string const& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

/// AddressSanitizer ends a program if its library is not loaded first.
bool has_address_sanitizer(std::string_view preloaded) {
  return preloaded.find("libasan.so") != std::string_view::npos ||
         preloaded.find("libclang_rt.asan") != std::string_view::npos;
}

void preload_ours(variables& all, std::string const& ours) {
  auto& preload = all["LD_PRELOAD"];
  if (preload.empty())
    preload = ours;
  else
    preload = has_address_sanitizer(preload) ? preload + ":" + ours : ours + ":" + preload;
  // Child programs of the program may be built with it, too.
  auto& options = all["ASAN_OPTIONS"];
  if (options.find("verify_asan_link_order") != std::string::npos) return;
  options += (options.empty() ? "" : ":") + std::string("verify_asan_link_order=0");
}

}  // namespace

launch_environment make_launch_environment(char const* const* inherited, variables const& chosen,
                                           std::string const& library, std::string const& preload) {
  launch_environment made;
  auto all = read_environment(inherited);
  for (auto const& [name, value] : chosen) all[name] = value;

  all.erase("GPUPROF_SET_INJECTION");  // the settings here apply to child programs, too
  if (preload.find_first_of(" :") != std::string::npos) {
    made.remarks.push_back("LD_PRELOAD is not set, because the path " + preload +
                           " has a blank or colon in it: ranges before the first CUDA call are "
                           "not recorded. Install gpuprof under another path");
  } else if (!preload.empty()) {
    preload_ours(all, preload);
  }
  for (auto const& [variable, lost] : injection_variables) {
    auto& path = all[variable];
    if (path.empty()) {
      path = library;
    } else if (!same_file(path, library) && !same_file(path, preload)) {
      made.remarks.push_back(std::string(variable) + " is set to " + path +
                             " and left alone: " + lost);
    }
  }
  for (auto const& [name, value] : all) made.entries.push_back(name + "=" + value);
  return made;
}

namespace {

std::vector<char*> pointers_to(std::vector<std::string> const& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto const& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int const s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD}) {
    sigaddset(&set, s);
  }
  return set;
}

/// Keeps the watched signals pending for sigwaitinfo() instead of letting them end this process.
class signals_held {
 public:
  signals_held() {
    auto const set = watched_signals();
    sigprocmask(SIG_BLOCK, &set, &before_);
  }
  signals_held(signals_held const&) = delete;
  signals_held& operator=(signals_held const&) = delete;
  ~signals_held() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  sigset_t const& before() const noexcept { return before_; }

 private:
  sigset_t before_{};
};

run_outcome outcome_of(int status) {
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), {}, WTERMSIG(status)};
  return {WEXITSTATUS(status), {}};
}

run_outcome wait_for(pid_t child) {
  auto const set = watched_signals();
  for (;;) {
    int status = 0;
    auto const ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return outcome_of(status);
    if (ended < 0 && errno != EINTR) return {1, {}};
    siginfo_t info{};
    int const s = sigwaitinfo(&set, &info);
    if (s <= 0 || s == SIGCHLD) continue;
    // A terminal also sends its signals to the program. Those that another process sent only to
    // this one are passed on.
    if (info.si_code != SI_KERNEL) kill(child, s);
  }
}

/// Returns the errno of exec, read from a pipe that a successful exec closes; 0: exec succeeded.
int exec_failure(int pipe_end) {
  int reason = 0;
  ssize_t got = 0;
  do {
    got = read(pipe_end, &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  return std::cmp_equal(got, sizeof reason) ? reason : 0;
}

}  // namespace

run_outcome run_program(std::string const& path, std::vector<std::string> const& arguments,
                        std::vector<std::string> const& environment) {
  auto argv = pointers_to(arguments);
  auto envp = pointers_to(environment);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    return {1, std::string("no pipe could be made: ") + std::strerror(errno)};
  }
  signals_held const held;
  pid_t const child = fork();
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &held.before(), nullptr);
    execve(path.c_str(), argv.data(), envp.data());
    if (errno == ENOEXEC) {  // no "#!" line: run it as a shell script, as shells do
      std::vector<char*> shell{const_cast<char*>("sh"), const_cast<char*>(path.c_str())};
      shell.insert(shell.end(), argv.begin() + 1, argv.end());
      execve("/bin/sh", shell.data(), envp.data());
    }
    int const reason = errno;
    [[maybe_unused]] auto const written = write(report[1], &reason, sizeof reason);
    _exit(126);
  }
  int const fork_failure = errno;
  close(report[1]);
  int const reason = child < 0 ? fork_failure : exec_failure(report[0]);
  close(report[0]);
  if (child < 0) {
    return {1, std::string("no process could be made: ") + std::strerror(fork_failure)};
  }
  auto outcome = wait_for(child);
  if (reason == 0) return outcome;
  return {reason == ENOENT ? 127 : 126,
          path + " could not be started: " + std::strerror(reason) +
              (reason == ENOENT ? "; the interpreter it names is missing" : "")};
}

}  // namespace gpuprof::host::command
