// SPDX-License-Identifier: Apache-2.0
// Lines on stderr, in children whose descriptor 2 breaks, is closed, or becomes another file.
#include "base/standard_error.hpp"

#include "base/log.hpp"
#include "support/catch.hpp"
#include "support/scratch_folder.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace gpuprof;

namespace {

struct ended {
  int status = 0;
  std::string said;  // on stderr, as long as that was the pipe
};

/// In a child whose stderr is a pipe, as when the library was loaded.
template <class Act>
ended in_child(Act act) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  ended result;
  auto const child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    close(ends[1]);
    std::signal(SIGPIPE, SIG_DFL);
    remember_standard_error();
    act();
    _exit(0);
  }
  close(ends[1]);
  waitpid(child, &result.status, 0);
  char piece[512];
  for (ssize_t count = 0; (count = read(ends[0], piece, sizeof piece)) > 0;)
    result.said.append(piece, static_cast<std::size_t>(count));
  close(ends[0]);
  return result;
}

std::string text_in(std::string const& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool sigpipe_is_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

TEST_CASE("a line joins its parts, and errno stays unchanged") {
  auto const result = in_child([] {
    errno = ENOTTY;
    log_warning("three ", std::string("parts "), std::string_view("here"));
    if (errno != ENOTTY) _exit(1);
    log_debug("below the level");
  });
  CHECK(result.status == 0);
  CHECK(result.said == "[gpuprof] three parts here\n");
}

TEST_CASE("a line into a broken pipe does not end the process") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  auto const child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    std::signal(SIGPIPE, SIG_DFL);
    remember_standard_error();
    log_info("read");
    char line[64];
    if (read(ends[0], line, sizeof line) <= 0) _exit(1);  // else this test would prove nothing
    close(ends[0]);
    log_info("not read");
    if (sigpipe_is_pending()) _exit(2);
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    _exit(sigismember(&now, SIGPIPE) == 0 ? 0 : 3);
  }
  close(ends[0]);
  close(ends[1]);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("a SIGPIPE that was pending before stays pending") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  auto const child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    close(ends[1]);
    remember_standard_error();
    close(ends[0]);
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, nullptr);
    raise(SIGPIPE);
    log_info("not read");
    _exit(sigpipe_is_pending() ? 0 : 1);
  }
  close(ends[0]);
  close(ends[1]);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("no line goes into a file that reuses the number of a closed stderr") {
  test::scratch_folder const folder;
  auto const file = folder / "data";
  auto const result = in_child([&] {
    log_info("before");
    close(2);
    if (open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600) != 2) _exit(1);
    log_error("after");
  });
  CHECK(result.status == 0);
  CHECK(result.said == "[gpuprof] before\n");
  CHECK(text_in(file).empty());
}

TEST_CASE("no line goes into a file that reuses the inode of the removed stderr file") {
  test::scratch_folder const folder;
  auto const first = folder / "first", second = folder / "second";
  auto const child = fork();
  if (child == 0) {
    close(2);
    constexpr int how = O_WRONLY | O_CREAT | O_TRUNC;
    if (open(first.c_str(), how, 0600) != 2) _exit(1);
    remember_standard_error();
    unlink(first.c_str());
    close(2);
    if (open(second.c_str(), how, 0600) != 2) _exit(1);
    log_error("after");
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(text_in(second).empty());
}

TEST_CASE("nothing is written when stderr was closed from the start") {
  test::scratch_folder const folder;
  auto const file = folder / "data";
  auto const child = fork();
  if (child == 0) {
    close(2);
    remember_standard_error();
    if (open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600) != 2) _exit(1);
    log_error("a line");
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(text_in(file).empty());
}
