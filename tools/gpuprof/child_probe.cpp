// SPDX-License-Identifier: Apache-2.0
#include "child_probe.hpp"

#include "base/time.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace gpuprof::host::command {
namespace {

[[noreturn]] void work_in_child(std::function<findings()> const& work, int out) {
  int const nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  std::string text;
  try {
    for (auto const& [name, value] : work()) {
      text += name + "=";
      for (char const c : value) text += c == '\n' ? ' ' : c;
      text += '\n';
    }
  } catch (...) {
    _exit(1);
  }
  for (std::size_t done = 0; done < text.size();) {
    auto const wrote = write(out, text.data() + done, text.size() - done);
    if (wrote <= 0) _exit(1);
    done += static_cast<std::size_t>(wrote);
  }
  _exit(0);  // no exit handlers: the probed libraries have some
}

findings read_findings(std::string const& text) {
  findings found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto const equals = line.find('=');
    if (equals != std::string::npos) found[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return found;
}

/// Reads until the other end is closed. Returns false if that takes too long.
bool read_until_closed(int in, int timeout_s, std::string& text) {
  auto const deadline = monotonic_ns() + static_cast<std::uint64_t>(timeout_s) * 1'000'000'000u;
  for (;;) {
    auto const now_ns = monotonic_ns();
    if (now_ns >= deadline) return false;
    pollfd waiting{in, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>((deadline - now_ns) / 1'000'000u) + 1) <= 0) continue;
    char piece[4096];
    auto const got = read(in, piece, sizeof piece);
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return true;
    if (got > 0) text.append(piece, static_cast<std::size_t>(got));
  }
}

}  // namespace

probe_outcome probe_in_child(std::function<findings()> const& work, int timeout_s) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {{}, std::string("no pipe: ") + std::strerror(errno)};
  pid_t const child = fork();
  if (child == 0) work_in_child(work, ends[1]);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return {{}, "no process could be made"};
  }
  std::string text;
  bool const answered = read_until_closed(ends[0], timeout_s, text);
  close(ends[0]);
  if (!answered) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  probe_outcome outcome{read_findings(text), {}};
  if (!answered) {
    outcome.failure = "did not answer within " + std::to_string(timeout_s) + " s";
  } else if (WIFSIGNALED(status)) {
    outcome.failure = "crashed with signal " + std::to_string(WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    outcome.failure = "failed";
  }
  return outcome;
}

}  // namespace gpuprof::host::command
