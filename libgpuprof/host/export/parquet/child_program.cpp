// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/child_program.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace gpuprof {
namespace {

// A signal that comes between two looks is heard so much later.
constexpr int look_every_ms = 100;

}  // namespace

result<child_program> child_program::start(std::vector<std::string> const& words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return error{std::string("no pipe: ") + std::strerror(errno)};
  std::vector<char*> arguments;
  for (auto const& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t process = 0;
  auto const failed =
      posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed == 0) return child_program(process, ends[0]);
  close(ends[0]);
  return error{"cannot start " + words[0] + ": " + std::strerror(failed)};
}

child_program::child_program(child_program&& other) noexcept
    : process_(std::exchange(other.process_, 0)), from_(std::exchange(other.from_, -1)) {}

child_program::~child_program() {
  if (process_ > 0) kill(process_, SIGTERM);
  if (from_ >= 0) close(from_);
  wait();
}

void child_program::read(std::function<void(std::string const&)> const& line,
                         std::function<void()> const& idle) {
  std::string text;
  char bytes[4096];
  for (;;) {
    pollfd ready{from_, POLLIN, 0};
    if (poll(&ready, 1, look_every_ms) <= 0) {
      idle();
      continue;
    }
    auto const count = ::read(from_, bytes, sizeof bytes);
    if (count == 0 || (count < 0 && errno != EINTR)) return;
    for (ssize_t i = 0; i < count; ++i) {
      if (bytes[i] != '\n')
        text += bytes[i];
      else
        line(std::exchange(text, {}));
    }
  }
}

int child_program::wait() {
  int status = 0;
  if (process_ <= 0) return 0;
  int ended = 0;
  while ((ended = waitpid(process_, &status, 0)) < 0 && errno == EINTR) {
  }
  process_ = 0;
  if (ended < 0) return cannot_tell;  // who started us ignores SIGCHLD
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace gpuprof
